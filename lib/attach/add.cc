#include "lib/attach/add.h"

#include "lib/attach/addresses.h"
#include "lib/attach/claim.h"
#include "lib/attach/device_info.h"
#include "lib/attach/partition.h"
#include "lib/attach/release.h"
#include "lib/cni/errors.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

// How long an interface may take from an ACTIVE port to carrier: one join of the broadcast group.
constexpr Duration kCarrier{3000};

Result<node::Namespace> pod_namespace(const Context& context) {
  const std::optional<node::Namespace> pod = TRY(context.kernel.find_namespace(context.call.netns));
  if (!pod) {
    return Error(Code::not_found,
                 "CNI_NETNS: there is no network namespace at " + context.call.netns.string())
        .reported_as(cni::kUnknownContainer);
  }
  const std::optional<node::Namespace> own =
      TRY(context.kernel.find_namespace("/proc/self/ns/net"));
  if (own && own->identity == pod->identity) {
    return Error(Code::invalid, "CNI_NETNS: " + context.call.netns.string() +
                                    " is the host's own network namespace: a pod with hostNetwork "
                                    "needs no attachment")
        .reported_as(cni::kInvalidEnvironment);
  }
  return *pod;
}

Status check_name_is_free(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Netdev> taken =
      TRY(context.kernel.find_netdev(pod, context.call.ifname));
  if (!taken) return ok();
  return Error(Code::exists, "CNI_IFNAME: the pod already has an interface " + context.call.ifname);
}

Result<node::Function> usable_function(const Context& context, const Order& order) {
  const std::optional<node::Function> function = TRY(context.kernel.function(order.device));
  const std::string device = "deviceID " + order.device.text();
  if (!function)
    return Error(Code::not_found, device + ": there is no such PCI function on this node");
  const bool vfio = function->driver && node::is_vfio(*function->driver);
  if (order.vfio && !vfio) {
    return Error(Code::invalid, "vfioPciMode: " + device + " is bound to " +
                                    function->driver.value_or("no driver") +
                                    ", not to vfio-pci: bind it, or leave vfioPciMode out");
  }
  if (!function->pf && !vfio) {
    return Error(Code::invalid, device +
                                    " is a physical function: give one of its VFs, or bind it to "
                                    "vfio-pci to pass all of it to a virtual machine");
  }
  return *function;
}

Status check_isolation(const Context& context) {
  const nl::RdmaNetnsMode mode = TRY(context.kernel.rdma_netns_mode());
  if (mode == nl::RdmaNetnsMode::exclusive) return ok();
  return Error(Code::unsupported,
               "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees "
               "every RDMA device. "
               "Put \"options ib_core netns_mode=0\" into /etc/modprobe.d and reboot, or set "
               "rdmaIsolation to false");
}

// Everything that can be refused without touching the device.
struct Prepared {
  node::Namespace pod;
  std::optional<cni::Ipam> ipam;
};

Result<Prepared> prepare(const Context& context, const Order& order, Deadline deadline) {
  Prepared prepared;
  prepared.pod = TRY(pod_namespace(context));
  TRY(check_name_is_free(context, prepared.pod));
  TRY(usable_function(context, order));
  if (order.wanted.isolation) TRY(check_isolation(context));
  prepared.ipam = TRY(ipam_of(context));
  if (prepared.ipam) {
    TRY(timed(context, "IPAM VERSION", [&] { return prepared.ipam->check_version(deadline); }));
  }
  return prepared;
}

Status check_has_guid(const node::Record& record) {
  if (record.wanted.guids || !record.found.guids || !record.found.guids->none()) return ok();
  return Error(Code::invalid, "the VF " + record.device.text() + " has no GUID (" +
                                  record.found.guids->port.text() +
                                  "), and none is asked for. Ask for one "
                                  "(runtimeConfig.infinibandGUID, args.cni.guid or guid), or give "
                                  "the VF one beforehand: ip link set PF vf N node_guid GUID, the "
                                  "same with port_guid, then bind it anew");
}

node::Record begin_record(const Context& context, const Order& order, const node::Namespace& pod) {
  node::Record record;
  record.plugin = context.plugin;
  record.network = context.network.name;
  record.container_id = context.call.container_id;
  record.ifname = context.call.ifname;
  record.pod = {context.call.pod.name_space, context.call.pod.name, context.call.pod.uid};
  record.device = order.device;
  record.netns = pod;
  record.boot_id = context.boot_id;
  record.wanted = order.wanted;
  record.configuration = context.network.text;
  record.cni_args = context.call.args;
  for (const Path& folder : context.call.path)
    record.cni_path += (record.cni_path.empty() ? "" : ":") + folder.string();
  return record;
}

// Under the device's lock: from the first look to the interface in the pod.
Status hand_over(const Context& context, node::Record& record, const Order& order,
                 Deadline deadline) {
  const node::Function function = TRY(usable_function(context, order));
  if (function.pf) {
    record.found = TRY(node::observe(context.kernel, function));
  } else {
    record.found.driver = *function.driver;  // nothing is done to a PF
    record.wanted.guids.reset();
    record.wanted.policy.reset();
  }
  TRY(check_has_guid(record));
  TRY(node::check_children(record));
  TRY(timed(context, "write the record", [&] { return context.records.write(record); }));
  return node::give(context.kernel, record, deadline);
}

Result<std::optional<Membership>> join_partition(const Context& context, const node::Record& record,
                                                 bool ipam, Deadline deadline) {
  if (!record.wanted.pkey) return std::optional<Membership>();
  if (node::is_vfio(record.found.driver)) {
    context.warn("partition " + record.wanted.pkey->text() +
                 " is not verified: a device on vfio-pci has no port on this node");
    return std::optional<Membership>();
  }
  const Membership membership = TRY(await_partition(context, record, ipam, deadline));
  context.inform("partition " + record.wanted.pkey->text() + " is verified: " +
                 membership.key.text() + ", " + std::string(ib::name(membership.key.membership())) +
                 " member, at index " + std::to_string(membership.index));
  return std::optional<Membership>(membership);
}

Status announce(const Context& context, const node::Record& record,
                const node::Addressing& addressing, Deadline deadline) {
  if (addressing.addresses.empty()) return ok();
  std::optional<node::Netdev> netdev;
  const bool carrier =
      TRY(node::wait_until(context.kernel, deadline.at_most(kCarrier), [&]() -> Result<bool> {
        netdev = TRY(context.kernel.find_netdev(record.netns, record.ifname));
        return netdev && netdev->carrier;
      }));
  if (carrier) return context.kernel.announce(record.netns, netdev->index, addressing.addresses);
  context.warn("the addresses are not announced: " + record.ifname + " has no carrier yet");
  return ok();
}

// The network's IPAM, and whether it has said that it reserved nothing.
struct Addressed {
  const std::optional<cni::Ipam>& ipam;
  bool refused = false;
};

Result<cni::AddResult> ask_ipam(const Context& context, Addressed& addressed, Deadline deadline) {
  Result<cni::AddResult> result =
      timed(context, "IPAM ADD", [&] { return addressed.ipam->add(deadline); });
  // Behind one that was too slow there may be a reservation.
  addressed.refused = !result && result.error().code() != Code::unavailable;
  return result;
}

// IPAM's answer, in the pod's interface.
Result<cni::AddResult> assign_addresses(const Context& context, const node::Record& record,
                                        Addressed& addressed, Deadline deadline) {
  cni::AddResult result = TRY(ask_ipam(context, addressed, deadline));
  for (cni::IpConfig& ip : result.ips) ip.interface = 0;
  if (node::is_vfio(record.found.driver)) return result;
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  const node::Addressing addressing = addressing_of(result);
  TRY(context.kernel.configure(record.netns, netdev->index, addressing, deadline));
  TRY(announce(context, record, addressing, deadline));
  return result;
}

Result<cni::Interface> interface_of(const Context& context, const node::Record& record) {
  cni::Interface interface;
  interface.name = record.ifname;
  interface.sandbox = record.netns.path.string();
  interface.pci_id = record.device.text();
  if (node::is_vfio(record.found.driver)) return interface;
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  interface.mac = nl::text(netdev->address);
  interface.mtu = netdev->mtu;
  return interface;
}

// A DEL may have come while IPAM was asked, and with it nobody is left to give the addresses back.
Status check_still_ours(const Context& context, const node::Record& record) {
  const Result<node::Record> now = context.records.read(name_of(record));
  if (now && *now == record) return ok();
  return Error(Code::unavailable, "the attachment was deleted while it was being made");
}

Result<cni::AddResult> complete(const Context& context, const node::Record& record,
                                const Order& order, Addressed& addressed, Deadline deadline) {
  const bool ipam = addressed.ipam.has_value();
  const std::optional<Membership> membership = TRY(join_partition(context, record, ipam, deadline));
  cni::AddResult result;
  if (ipam) result = TRY(assign_addresses(context, record, addressed, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  if (result.dns.is_null()) result.dns = context.network.dns;
  if (!order.device_info.empty()) {
    const std::optional<node::Function> function = TRY(context.kernel.function(record.device));
    if (function)
      TRY(write_device_info(order.device_info, *function, membership).during("CNIDeviceInfoFile"));
  }
  TRY(check_still_ours(context, record));
  return result;
}

// Whatever IPAM may have reserved goes back, also for an attachment whose record a DEL has taken
// away. One that refused the ADD and refuses the DEL as well keeps no VF out of service.
Addresses return_addresses(const Context& context, const Addressed& addressed) {
  if (!addressed.ipam) return Addresses::given_back;
  const Status returned =
      timed(context, "IPAM DEL", [&] { return addressed.ipam->del(Deadline::in(kUndoTime)); });
  if (returned) return Addresses::given_back;
  if (!addressed.refused) return Addresses::reserved;
  context.warn("IPAM refused the DEL, too: " + returned.error().text());
  return Addresses::given_back;
}

// The first error stands; what could not be undone is added to it.
Error undo(const Context& context, const node::Record& record, Addresses addresses, Error error) {
  const Status undone = release(context, name_of(record), Deadline::in(kUndoTime), addresses);
  if (undone) return error;
  return Error(error.code(), error.text() + "; and it could not be undone yet, the record stays: " +
                                 undone.error().text())
      .with_details(error.details())
      .reported_as(error.reported());
}

}  // namespace

Result<cni::AddResult> add(const Context& context, const Order& order) {
  const Deadline deadline = Deadline::in(order.timeout);
  const Prepared prepared = TRY(prepare(context, order, deadline));
  node::Record record = begin_record(context, order, prepared.pod);
  std::optional<FolderLock> lock = TRY(claim(context, name_of(record), deadline));
  const Status handed_over = hand_over(context, record, order, deadline);
  lock.reset();
  // Nobody has asked IPAM yet.
  if (!handed_over) return undo(context, record, Addresses::given_back, handed_over.error());
  Addressed addressed{prepared.ipam};
  Result<cni::AddResult> result = complete(context, record, order, addressed, deadline);
  if (result) return result;
  const Addresses addresses = return_addresses(context, addressed);
  return undo(context, record, addresses, result.error());
}

}  // namespace ibpod::attach
