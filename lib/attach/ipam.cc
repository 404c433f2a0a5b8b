#include "lib/attach/ipam.h"

#include "lib/attach/node_config.h"
#include "lib/attach/release.h"
#include "lib/cni/errors.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using cni::Environment;
using node::AddressReleaseName;

Result<std::optional<cni::Ipam>> find_ipam(const cni::Network& network, std::vector<Path> path,
                                           Environment environment) {
  if (network.ipam_type.empty()) return std::optional<cni::Ipam>();
  environment[std::string(kCalledAsIpam)] = "1";
  cni::Ipam ipam = TRY(cni::Ipam::find(
      {network.ipam_type, std::move(path), std::move(environment), network.text, network.version}));
  return std::optional<cni::Ipam>(std::move(ipam));
}

// If a network named one of our plugins as its IPAM, it would call itself until the timeout.
Status check_is_no_plugin_of_ours(const std::string& type) {
  if (type != "ib-sriov" && type != "ipoib") return ok();
  return Error(Code::invalid,
               "ipam.type: \"" + type +
                   "\" is not an IPAM plugin: use one such as host-local, or remove ipam")
      .reported_as(cni::kInvalidConfiguration);
}

// Checked in ADD, and in DEL again: the node's configuration may have changed since.
Status check_ipam_type(const Context& context, const std::string& type) {
  TRY(check_is_no_plugin_of_ours(type));
  const auto& types = context.request.settings.ipam_types;
  const bool allowed =
      type.empty() || !types || std::find(types->begin(), types->end(), type) != types->end();
  if (allowed) return ok();
  return Error(Code::denied, "ipam.type: \"" + type +
                                 "\" is not allowed on this node: add it to ipamTypes in " +
                                 std::string(kNodeConfigFile))
      .reported_as(cni::kInvalidConfiguration);
}

// "" if the network has no IPAM. "IPAM" if the configuration cannot be read: it may have one.
std::string ipam_type_of(const node::Record& record) {
  Result<json::Value> document = cni::parse_document(record.configuration);
  if (!document) return "IPAM";
  const Result<cni::Network> network =
      cni::parse_network(std::move(document).value(), record.configuration);
  return network ? network->ipam_type : "IPAM";
}

// True if nothing is left but the keys in the port's table, or if the function is not in the
// machine.
Result<bool> has_ended(const Context& context, const Result<node::Record>& record) {
  if (!record) return record.error().code() == Code::not_found;
  if (record->stage == node::Stage::pkey_pending) return true;
  return is_missing(context, *record);
}

// False if the attachment has ended but its device is not free; busy if it has not ended.
Result<bool> is_device_free(const Context& context, const AddressReleaseName& name) {
  const std::vector<node::RecordName> left =
      TRY(context.host.records.of_attachment(name.container_id, name.ifname));
  for (const node::RecordName& one : left) {
    const bool ended = TRY(has_ended(context, context.host.records.read(one)));
    if (!ended)
      return Error(Code::busy, "addresses of " + name.container_id + ":" + name.ifname +
                                   ": IPAM does not release them before the attachment " +
                                   one.text() + " has ended");
  }
  return left.empty();
}

Error still_owed(const node::Record& record, bool device_free, const Error& cause) {
  const std::string device = node::name_of(record).folder;
  const std::string free = record.child ? "the IPoIB child " + device + " is removed"
                                        : device + " is back and free for the next pod";
  const std::string owed = "the pod's address is not yet released at ipam " + ipam_type_of(record) +
                           " (DEL, GC and the node's agent retry): ";
  return Error(cause).during((device_free ? free + ", but " : "") + owed + "IPAM DEL");
}

Status ask(const Context& context, const node::Record& record, Deadline deadline,
           RefusalPolicy refusal) {
  Status released = release_addresses(context, record, deadline);
  const bool refused = !released && released.error().code() == Code::denied;
  if (refusal != RefusalPolicy::forget || !refused) return released;
  context.log.warn("IPAM also refused the DEL: " + released.error().text());
  return ok();
}

}  // namespace

Result<std::optional<cni::Ipam>> ipam_of(const Context& context, const cni::Network& network) {
  TRY(check_ipam_type(context, network.ipam_type));
  return find_ipam(network, context.request.call.path, context.request.call.environment);
}

Status release_addresses(const Context& context, const node::Record& record, Deadline deadline) {
  json::Value document = TRY(cni::parse_document(record.configuration));
  const cni::Network network = TRY(cni::parse_network(std::move(document), record.configuration));
  const Status allowed = check_ipam_type(context, network.ipam_type);
  if (!allowed) {
    context.log.warn(allowed.error().text() + ": it is not called to release the pod's addresses");
    return ok();
  }
  Environment environment = context.request.call.environment;
  environment["CNI_CONTAINERID"] = record.container_id;
  environment["CNI_IFNAME"] = record.ifname;
  environment["CNI_ARGS"] = record.cni_args;
  // This call's CNI_PATH has precedence over that of the ADD.
  std::vector<Path> path = context.request.call.path;
  if (path.empty()) path = cni::split_path(record.cni_path);
  if (context.request.call.path.empty()) environment["CNI_PATH"] = record.cni_path;
  const std::optional<node::Namespace> now =
      TRY(context.host.kernel.find_namespace(record.netns.path));
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
    // A route without a gateway uses the gateway of the first address of its family, if there is
    // one.
    for (const cni::IpConfig& ip : result.ips) {
      const bool fits = ip.gateway && ip.gateway->family() == route.destination.address.family();
      if (!wanted.gateway && !route.scope && fits) wanted.gateway = ip.gateway;
    }
    addressing.routes.push_back(wanted);
  }
  return addressing;
}

Result<cni::AddResult> IpamAllocation::allocate(const Context& context, Deadline deadline) {
  Result<cni::AddResult> result = timed(context, "IPAM ADD", [&] { return ipam_->add(deadline); });
  // Only an explicit refusal (denied) means that nothing is reserved.
  const bool refused = !result && result.error().code() == Code::denied;
  reservation_ = refused ? Reservation::refused : Reservation::perhaps;
  return result;
}

bool is_this_attempt(const Context& context, const std::string& attempt) {
  const auto only = context.request.call.environment.find(std::string(kOnlyAttempt));
  return only == context.request.call.environment.end() || only->second == attempt;
}

Status owe_addresses(const Context& context, const node::Record& record) {
  if (ipam_type_of(record).empty()) return ok();
  return timed(context, "record that IPAM has addresses to release", [&] {
    const Path own = context.host.records.file(node::name_of(record));
    return context.host.records.address_releases().write(record, own);
  });
}

Status release_owed(const Context& context, const AddressReleaseName& name, Deadline deadline,
                    RefusalPolicy refusal) {
  const node::AddressReleases& releases = context.host.records.address_releases();
  const FolderLock lock = TRY(releases.lock(name.container_id, name.ifname, deadline)
                                  .during("addresses of " + name.container_id + ":" + name.ifname));
  const Result<node::Record> record = releases.read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (!record) return record.error();
  const bool device_free = TRY(is_device_free(context, name));
  const Status released = ask(context, *record, deadline, refusal);
  if (!released) return still_owed(*record, device_free, released.error());
  // The process that ended the attachment may have been killed after it removed the record and
  // before it removed the folder.
  TRY(context.host.records.tidy(node::name_of(*record).folder));
  return releases.remove(name);
}

Status forget_owed(const Context& context, const AddressReleaseName& name, Deadline deadline) {
  const node::AddressReleases& releases = context.host.records.address_releases();
  const FolderLock lock = TRY(releases.lock(name.container_id, name.ifname, deadline));
  return releases.remove(name);
}

}  // namespace ibpod::attach
