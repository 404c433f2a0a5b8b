#include "lib/attach/vf_driver.h"

#include "lib/attach/agent_client.h"
#include "lib/attach/attachment_driver.h"
#include "lib/attach/binding.h"
#include "lib/attach/device_info.h"
#include "lib/attach/pod.h"
#include "lib/base/join.h"
#include "lib/cni/errors.h"
#include "lib/node/describe.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

Status check_has_guid(const Context& context, const node::Record& record) {
  if (record.spec.guids || !record.original.guids || !record.original.guids->none()) return ok();
  const std::string none = "the VF " + record.device.text() + " has no GUID (" +
                           record.original.guids->port.text() + ")";
  if (context.host.sm_managed)
    return Error(Code::unavailable,
                 none +
                     ": this node's agent sets one from the SM service's pool when it prepares the "
                     "VF, and has not done so yet: run `ibpodctl doctor`");
  return Error(Code::invalid,
               none +
                   ", and the network requests none: request one (runtimeConfig.infinibandGUID, "
                   "args.cni.guid or guid), or set the VF's first: ip link set PF vf N node_guid "
                   "GUID, the same with port_guid, then unbind and bind the VF");
}

// The pod gets a VF's own interface, and the VF's GUIDs are set through the PF's.
Status check_ipoib(const Context& context) {
  const std::vector<node::Netdev> netdevs = TRY(context.host.kernel.ipoib_netdevs(node::kHost));
  if (!netdevs.empty()) return ok();
  return Error(
      Code::unavailable,
      "the host has no IPoIB interface of a VF or PF: load ib_ipoib and the adapter's driver");
}

// Ignores, with a warning, the settings that a device on vfio-pci cannot have.
void drop_what_vfio_cannot(const Context& context, const node::Function& function,
                           node::Spec& spec) {
  std::string dropped;
  const auto drop = [&](bool asked, const std::string& key) {
    if (asked) add_item(dropped, ", ", key);
  };
  drop(spec.mtu.has_value(), "mtu");
  spec.mtu.reset();
  drop(spec.isolation, "rdmaIsolation");
  if (!function.pf) {
    drop(spec.guids.has_value(), "guid");
    drop(spec.policy.has_value(), "link_state");
    spec.guids.reset();
    spec.policy.reset();
  }
  if (!dropped.empty()) context.log.warn("ignored for a device on vfio-pci: " + dropped);
}

ReadyResult warn_of_unverified(const Context& context, ReadyResult joined) {
  for (const ib::PKey key : joined.unverified)
    context.log.warn("partition " + key.text() +
                     " is not verified: a device on vfio-pci has no port on this node");
  return joined;
}

// A device on vfio-pci has no port that this node can read, and one on the subnet only while its
// virtual machine runs.
Result<ReadyResult> report_unverified(const Context& context, const node::Record& record,
                                      Deadline deadline) {
  ReadyResult joined;
  if (record.spec.pkey) joined.unverified = {*record.spec.pkey};
  if (!names_partitions(record.spec)) return warn_of_unverified(context, std::move(joined));
  const Result<BindingResult> bound = await_binding(context, record, deadline);
  if (!bound && bound.error().code() == Code::unavailable)
    return Error(bound.error())
        .during(
            "deviceID " + record.device.text() +
            " is on vfio-pci, and its port is on the subnet only while its virtual machine runs "
            "(set the partition's proof to none to attach it unverified)");
  if (!bound) return bound.error();
  if (!bound->is_verified) joined.unverified = bound->keys;
  return warn_of_unverified(context, std::move(joined));
}

// If the kernel finds a step invalid, the configuration is not at fault, except for the MTU.
Status give(const Context& context, const node::Record& record, Deadline deadline) {
  Status given = node::move_to_pod(context.host.kernel, record, deadline);
  const bool refused =
      !given && given.error().error_number() != 0 &&
      (given.error().code() == Code::invalid || given.error().code() == Code::not_found);
  if (!refused || record.spec.mtu) return given;
  return std::move(given).reported_as(cni::kInternal);
}

Status check_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(node::own_netdev(context.host.kernel, record.netns, record.device));
  if (!netdev) return differs("the interface of " + record.device.text() + " is not in the pod");
  return check_interface(record, *netdev);
}

Status check_rdma(const Context& context, const node::Record& record) {
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.host.kernel.rdma_devices(where, record.device));
  if (devices.size() != record.original.rdma_devices.size()) {
    return differs(std::to_string(devices.size()) + " of " +
                   std::to_string(record.original.rdma_devices.size()) + " RDMA devices are " +
                   (where.is_host() ? "in the host's namespace" : "in the pod"));
  }
  const node::Guids wanted =
      record.spec.guids.value_or(record.original.guids.value_or(node::Guids{}));
  for (const node::RdmaDevice& device : devices) {
    if (device.port_guid != wanted.port)
      return differs(device.name + " has the port GUID " + device.port_guid.text() +
                     " instead of " + wanted.port.text());
    if (device.node_guid != wanted.node)
      return differs(device.name + " has the node GUID " + device.node_guid.text() +
                     " instead of " + wanted.node.text());
  }
  return ok();
}

// A virtual machine has the port: only the driver and the PF's settings are visible.
Status check_vfio(const Context& context, const node::Record& record) {
  const std::optional<node::Function> function = TRY(context.host.kernel.function(record.device));
  if (!function) return differs(record.device.text() + " is no longer on this node");
  if (function->driver != record.original.driver) {
    return differs(record.device.text() + " is bound to " + function->driver.value_or("no driver") +
                   " instead of " + record.original.driver);
  }
  if (names_partitions(record.spec)) TRY(bound_keys(context, record));
  if (!record.spec.guids) return ok();
  const Result<nl::VfSettings> told = context.host.kernel.vf_settings(*function);
  if (!told && told.error().code() == Code::unsupported) return ok();
  if (!told) return told.error();
  if (node::Guids{told->node_guid, told->port_guid} == *record.spec.guids) return ok();
  return differs("the PF is set to the port GUID " + told->port_guid.text() + " for " +
                 record.device.text() + " instead of " + record.spec.guids->port.text());
}

}  // namespace

Status check_isolation(const Context& context) {
  const nl::RdmaNetnsMode mode = TRY(context.host.kernel.rdma_netns_mode());
  if (mode == nl::RdmaNetnsMode::exclusive) return ok();
  return Error(Code::unsupported,
               "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees "
               "every RDMA device: " +
                   node::set_at_boot(nl::RdmaNetnsMode::exclusive) +
                   ", or set rdmaIsolation to false");
}

Result<node::Function> VfDriver::usable_function(const Context& context) const {
  const std::optional<node::Function> function = TRY(context.host.kernel.function(config_.device));
  const std::string device = "deviceID " + config_.device.text();
  if (!function)
    return Error(Code::not_found, device + ": there is no such PCI function on this node");
  const bool vfio = function->driver && node::is_vfio(*function->driver);
  if (config_.vfio && !vfio) {
    return Error(Code::invalid,
                 "vfioPciMode: " + device + " is bound to " +
                     function->driver.value_or("no driver") +
                     ", not to vfio-pci: bind it to vfio-pci, or remove vfioPciMode");
  }
  if (!function->pf && !vfio) {
    return Error(Code::invalid, device +
                                    " is a physical function: use one of its VFs, or bind it to "
                                    "vfio-pci to pass all of it to a virtual machine");
  }
  return *function;
}

std::string VfDriver::subject() const {
  return config_.device.empty() ? "" : config_.device.text();
}

Status VfDriver::check_node(const Context& context) const {
  if (config_.spec.isolation) TRY(check_isolation(context));
  return config_.vfio ? ok() : check_ipoib(context);
}

Result<std::string> VfDriver::ask_agent(const Context& context, Deadline deadline) const {
  const cni::Call& call = context.request.call;
  const nodeapi::DeviceQuestion question{call.pod.name_space, call.pod.name, config_.resource,
                                         call.container_id, call.ifname};
  return timed(context, "ask the agent for the pod's device",
               [&] { return context.host.agent.connect()->device_of(question, deadline); });
}

// If the network names no device, the agent does, and later the record. A device that the network
// names must be the pod's.
Result<bool> VfDriver::resolve(const Context& context, Deadline deadline) {
  if (!config_.device.empty()) {
    if (context.request.call.verb == cni::Verb::add)
      TRY(check_allocated(context, "deviceID", config_.device, std::string(kDeviceAdvice),
                          deadline));
    return true;
  }
  std::string device, source = "the agent's answer";
  if (context.request.call.verb == cni::Verb::add) {
    device = TRY(ask_agent(context, deadline));
  } else {
    source = "the folder of the attachment's record";
    const std::vector<node::RecordName> names = TRY(context.host.records.of_attachment(
        context.request.call.container_id, context.request.call.ifname));
    if (!names.empty()) device = names.front().folder;
  }
  if (device.empty()) return false;
  config_.device = TRY(ib::PciAddress::parse(device).during(source));
  context.log.name_device(subject());
  return true;
}

// The pod's author writes its annotations, and could enter another pod's partitions with that pod's
// GUID. So the SM service has to grant a GUID, which it does only for a binding.
Status VfDriver::check_requested_guid() const {
  const node::Spec& spec = config_.spec;
  const bool bound = spec.pkey || !spec.partitions.empty();
  if (spec.guids && bound) return ok();
  if (spec.guids)
    return Error(Code::invalid, config_.guid_key + ": " + spec.guids->port.text() +
                                    ": the SM service assigns the GUIDs of this node's VFs, and a "
                                    "network can request one only together with partition or pkey");
  if (config_.ib_kubernetes_configured)
    return Error(Code::invalid,
                 "args.cni[\"mellanox.infiniband.app\"]: \"configured\" is not supported on this "
                 "node: its agent binds the pod at the SM service, without ib-kubernetes");
  return ok();
}

// ib-kubernetes sets a pod's GUID up at the subnet manager and says so in the pod's annotation. An
// agent that binds does all that itself.
Status VfDriver::check_allowed(const Context& context) const {
  if (context.host.sm_managed) return check_requested_guid();
  if (!config_.ib_kubernetes) return ok();
  if (!config_.ib_kubernetes_configured) {
    return Error(Code::unavailable,
                 "ibKubernetesEnabled: ib-kubernetes has not configured this pod yet: "
                 "args.cni has no \"mellanox.infiniband.app\": \"configured\"");
  }
  const std::optional<node::Function> function = TRY(context.host.kernel.function(config_.device));
  if (!function || !function->pf || config_.spec.guids) return ok();
  return Error(Code::unavailable,
               "ibKubernetesEnabled: ib-kubernetes has given this pod no GUID: args.cni.guid and "
               "runtimeConfig.infinibandGUID are empty");
}

Result<std::vector<std::string>> VfDriver::check_usable(const Context& context) const {
  TRY(usable_function(context));
  if (config_.spec.isolation) TRY(check_isolation(context));
  return context.host.kernel.char_devices(config_.device);
}

Status VfDriver::attach(const Context& context, node::Record& record, Deadline deadline) const {
  const node::Function function = TRY(usable_function(context));
  record.device = config_.device;
  if (function.pf) {
    record.original = TRY(node::observe(context.host.kernel, function, record.spec));
  } else {
    record.original.driver = *function.driver;  // a PF is not changed
  }
  if (node::is_vfio(record.original.driver)) drop_what_vfio_cannot(context, function, record.spec);
  TRY(check_has_guid(context, record));
  TRY(node::check_children(record));
  TRY(timed(context, "write the record", [&] { return context.host.records.write(record); }));
  if (names_partitions(record.spec)) TRY(begin_binding(context, record, deadline));
  return needs_guid_grant(record) ? ok() : give(context, record, deadline);
}

Status VfDriver::move_to_pod_when_granted(const Context& context, const node::Record& record,
                                          Deadline deadline) const {
  TRY(await_guid_grant(context, record, deadline));
  const FolderLock lock = TRY(context.host.records.lock(folder(context.request.call), deadline));
  // The lock was not held during the wait.
  TRY(check_still_ours(context, record));
  return give(context, record, deadline);
}

Result<ReadyResult> VfDriver::wait_ready(const Context& context, node::Record& record,
                                         IndexRequirement requirement, Deadline deadline) const {
  if (needs_guid_grant(record)) TRY(move_to_pod_when_granted(context, record, deadline));
  if (node::is_vfio(record.original.driver)) return report_unverified(context, record, deadline);
  const std::optional<TableEntry> membership =
      TRY(await_partitions(context, record, requirement, deadline));
  if (requirement == IndexRequirement::index_0 && membership && membership->index != 0)
    TRY(use_full_key(context, record, deadline));
  return ReadyResult{membership, {}};
}

Status VfDriver::use_full_key(const Context& context, const node::Record& record,
                              Deadline deadline) const {
  const FolderLock lock = TRY(context.host.records.lock(folder(context.request.call), deadline));
  TRY(check_still_ours(context, record));
  return renew_pkey(context, record);
}

Status VfDriver::publish(const Context& context, const node::Record& record,
                         const std::optional<TableEntry>& membership,
                         const std::vector<std::string>& char_devices) const {
  TRY(warn_of_other_char_devices(context, record.device, char_devices));
  if (config_.device_info.empty()) return ok();
  const std::vector<node::RdmaDevice> devices =
      TRY(context.host.kernel.rdma_devices(home_of_rdma(record), record.device));
  return update_device_info(context.host.records, config_.device_info, record.device, devices,
                            membership)
      .during("CNIDeviceInfoFile");
}

Status VfDriver::check(const Context& context, const node::Record& record,
                       IndexRequirement requirement) const {
  if (node::is_vfio(record.original.driver)) return check_vfio(context, record);
  TRY(check_netdev(context, record));
  TRY(check_rdma(context, record));
  return check_partitions(context, record, requirement);
}

}  // namespace ibpod::attach
