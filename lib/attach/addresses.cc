#include "lib/attach/addresses.h"

namespace ibpod::attach {
namespace {

using cni::Environment;

Result<std::optional<cni::Ipam>> find_ipam(const cni::Network& network, std::vector<Path> path,
                                           Environment environment) {
  if (network.ipam_type.empty()) return std::optional<cni::Ipam>();
  cni::Ipam ipam = TRY(cni::Ipam::find(
      {network.ipam_type, std::move(path), std::move(environment), network.text, network.version}));
  return std::optional<cni::Ipam>(std::move(ipam));
}

}  // namespace

Result<std::optional<cni::Ipam>> ipam_of(const cni::Network& network, const cni::Call& call) {
  return find_ipam(network, call.path, call.environment);
}

Status release_addresses(const Context& context, const node::Record& record, Deadline deadline) {
  json::Value document = TRY(cni::parse_document(record.configuration));
  const cni::Network network = TRY(cni::parse_network(std::move(document), record.configuration));
  Environment environment = context.call.environment;
  environment["CNI_CONTAINERID"] = record.container_id;
  environment["CNI_IFNAME"] = record.ifname;
  environment["CNI_ARGS"] = record.cni_args;
  environment["CNI_PATH"] = record.cni_path;
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(record.netns.path));
  environment["CNI_NETNS"] = now == record.netns ? record.netns.path.string() : "";
  const std::optional<cni::Ipam> ipam =
      TRY(find_ipam(network, cni::split_path(record.cni_path), std::move(environment)));
  if (!ipam) return ok();
  return timed(context, "IPAM DEL", [&] { return ipam->del(deadline); });
}

node::Addressing addressing_of(const cni::AddResult& result) {
  node::Addressing addressing;
  for (const cni::IpConfig& ip : result.ips) addressing.addresses.push_back(ip.address);
  for (const cni::Route& route : result.routes) {
    nl::Route wanted{route.destination, route.gateway, route.mtu,  route.advmss,
                     route.priority,    route.table,   route.scope};
    // A route without a gateway of its own goes by the one of the address of its family, if there
    // is one.
    for (const cni::IpConfig& ip : result.ips) {
      const bool fits = ip.gateway && ip.gateway->family() == route.destination.address.family();
      if (!wanted.gateway && !route.scope && fits) wanted.gateway = ip.gateway;
    }
    addressing.routes.push_back(wanted);
  }
  return addressing;
}

}  // namespace ibpod::attach
