#include "lib/attach/addresses.h"

#include "lib/attach/node_config.h"
#include "lib/cni/errors.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using cni::Environment;

Result<std::optional<cni::Ipam>> find_ipam(const cni::Network& network, std::vector<Path> path,
                                           Environment environment) {
  if (network.ipam_type.empty()) return std::optional<cni::Ipam>();
  environment[std::string(kCalledAsIpam)] = "1";
  cni::Ipam ipam = TRY(cni::Ipam::find(
      {network.ipam_type, std::move(path), std::move(environment), network.text, network.version}));
  return std::optional<cni::Ipam>(std::move(ipam));
}

// One that a network names as its own IPAM would call itself until its time is over.
Status check_is_no_plugin_of_ours(const std::string& type) {
  if (type != "ib-sriov" && type != "ipoib") return ok();
  return Error(Code::invalid,
               "ipam.type: \"" + type +
                   "\" is not an IPAM plugin: use one such as host-local, or remove ipam")
      .reported_as(cni::kInvalidConfiguration);
}

// ADD checks it, and DEL again: the node's configuration may have changed since.
Status check_ipam_type(const Context& context, const std::string& type) {
  TRY(check_is_no_plugin_of_ours(type));
  const auto& types = context.ipam_types;
  const bool allowed =
      type.empty() || !types || std::find(types->begin(), types->end(), type) != types->end();
  if (allowed) return ok();
  return Error(Code::denied, "ipam.type: \"" + type +
                                 "\" is not allowed on this node: add it to ipamTypes in " +
                                 std::string(kNodeConfigFile))
      .reported_as(cni::kInvalidConfiguration);
}

}  // namespace

Result<std::optional<cni::Ipam>> ipam_of(const Context& context, const cni::Network& network) {
  TRY(check_ipam_type(context, network.ipam_type));
  return find_ipam(network, context.call.path, context.call.environment);
}

Status release_addresses(const Context& context, const node::Record& record, Deadline deadline) {
  json::Value document = TRY(cni::parse_document(record.configuration));
  const cni::Network network = TRY(cni::parse_network(std::move(document), record.configuration));
  const Status allowed = check_ipam_type(context, network.ipam_type);
  if (!allowed) {
    context.warn(allowed.error().text() + ": it is not called to release the pod's addresses");
    return ok();
  }
  Environment environment = context.call.environment;
  environment["CNI_CONTAINERID"] = record.container_id;
  environment["CNI_IFNAME"] = record.ifname;
  environment["CNI_ARGS"] = record.cni_args;
  // The runtime's word of today goes before that of the ADD.
  std::vector<Path> path = context.call.path;
  if (path.empty()) path = cni::split_path(record.cni_path);
  if (context.call.path.empty()) environment["CNI_PATH"] = record.cni_path;
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(record.netns.path));
  environment["CNI_NETNS"] = now == record.netns ? record.netns.path.string() : "";
  const std::optional<cni::Ipam> ipam =
      TRY(find_ipam(network, std::move(path), std::move(environment)));
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
