#include "lib/attach/add.h"

#include "lib/attach/addresses.h"
#include "lib/attach/claim.h"
#include "lib/attach/device_info.h"
#include "lib/attach/lease.h"
#include "lib/attach/partition.h"
#include "lib/attach/release.h"
#include "lib/attach/requirements.h"
#include "lib/cni/errors.h"
#include "lib/ib/hex.h"
#include "lib/node/vf.h"

#include <random>

namespace ibpod::attach {
namespace {

// How long an interface may take from an ACTIVE port to carrier: one join of the broadcast group.
constexpr Duration kCarrier{3000};

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
  record.attempt = ib::hex(std::random_device()(), 8);
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

// What a device on vfio-pci cannot be given is not given, and said.
void drop_what_vfio_cannot(const Context& context, const node::Function& function,
                           node::Wanted& wanted) {
  std::string dropped;
  const auto drop = [&](bool asked, const std::string& key) {
    if (asked) dropped += (dropped.empty() ? "" : ", ") + key;
  };
  drop(wanted.mtu.has_value(), "mtu");
  wanted.mtu.reset();
  drop(wanted.isolation, "rdmaIsolation");
  if (!function.pf) {
    drop(wanted.guids.has_value(), "guid");
    drop(wanted.policy.has_value(), "link_state");
    wanted.guids.reset();
    wanted.policy.reset();
  }
  if (!dropped.empty()) context.warn("without effect on a device on vfio-pci: " + dropped);
}

// A kernel that finds a step invalid does not mean the configuration; but an MTU it does.
Status give(const Context& context, const node::Record& record, Deadline deadline) {
  Status given = node::give(context.kernel, record, deadline);
  const bool refused =
      !given && given.error().error_number() != 0 &&
      (given.error().code() == Code::invalid || given.error().code() == Code::not_found);
  if (!refused || record.wanted.mtu) return given;
  return std::move(given).reported_as(cni::kInternal);
}

// Under the device's lock: from the first look to the interface in the pod.
Status hand_over(const Context& context, node::Record& record, const Order& order,
                 Deadline deadline) {
  TRY(check_still_there(context, record.netns));
  const node::Function function = TRY(usable_function(context, order));
  if (function.pf) {
    record.found = TRY(node::observe(context.kernel, function, record.wanted));
  } else {
    record.found.driver = *function.driver;  // nothing is done to a PF
  }
  if (node::is_vfio(record.found.driver)) drop_what_vfio_cannot(context, function, record.wanted);
  TRY(check_has_guid(record));
  TRY(node::check_children(record));
  TRY(timed(context, "write the record", [&] { return context.records.write(record); }));
  return give(context, record, deadline);
}

Result<std::optional<Membership>> join_partition(const Context& context, const node::Record& record,
                                                 Place place, Deadline deadline) {
  if (!record.wanted.pkey) return std::optional<Membership>();
  if (node::is_vfio(record.found.driver)) {
    context.warn("partition " + record.wanted.pkey->text() +
                 " is not verified: a device on vfio-pci has no port on this node");
    return std::optional<Membership>();
  }
  const Membership membership = TRY(await_partition(context, record, place, deadline));
  context.inform("partition " + record.wanted.pkey->text() + " is verified: " +
                 membership.key.text() + ", " + std::string(ib::name(membership.key.membership())) +
                 " member, at index " + std::to_string(membership.index));
  return std::optional<Membership>(membership);
}

Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  return *netdev;
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

// IPAM's answer, in the pod's interface.
Result<cni::AddResult> assign_addresses(const Context& context, const node::Record& record,
                                        Lease& lease, Deadline deadline) {
  cni::AddResult result = TRY(lease.ask(context, deadline));
  for (cni::IpConfig& ip : result.ips) ip.interface = 0;
  if (node::is_vfio(record.found.driver)) return result;
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  const node::Addressing addressing = addressing_of(result);
  TRY(context.kernel.configure(record.netns, netdev.index, addressing, deadline));
  const Status announced = announce(context, record, addressing, deadline);
  // The neighbours will find out by themselves, in a minute or so.
  if (!announced) context.warn("the addresses are not announced: " + announced.error().text());
  return result;
}

Result<cni::Interface> interface_of(const Context& context, const node::Record& record) {
  cni::Interface interface;
  interface.name = record.ifname;
  interface.sandbox = record.netns.path.string();
  interface.pci_id = record.device.text();
  if (node::is_vfio(record.found.driver)) return interface;
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  interface.mac = nl::text(netdev.address);
  interface.mtu = netdev.mtu;
  return interface;
}

// A DEL may have come while IPAM was asked, and with it nobody is left to give the addresses back.
Status check_still_ours(const Context& context, const node::Record& record) {
  const Result<node::Record> now = context.records.read(name_of(record));
  if (now && *now == record) return check_still_there(context, record.netns);
  return Error(Code::unavailable, "the attachment was deleted while it was being made");
}

Result<cni::AddResult> complete(const Context& context, const node::Record& record,
                                const Order& order, const node::Function& before, Lease& lease,
                                Deadline deadline) {
  const std::optional<Membership> membership =
      TRY(join_partition(context, record, place_for(lease.wanted()), deadline));
  cni::AddResult result;
  if (lease.wanted()) result = TRY(assign_addresses(context, record, lease, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  if (result.dns.is_null()) result.dns = context.network.dns;
  TRY(tell_devices(context, order, before, membership));
  TRY(check_still_ours(context, record));
  return result;
}

// The first error stands; what could not be undone is added to it.
Error undo(const Context& context, const node::Record& record, Status addresses, Error error) {
  const Status undone =
      release(context, name_of(record), Deadline::in(kUndoTime), std::move(addresses));
  if (undone) return error;
  return std::move(error).also(
      Error(undone.error()).during("and it could not be undone yet, the record stays"));
}

}  // namespace

Result<cni::AddResult> add(const Context& context, const Order& order) {
  const Deadline deadline = Deadline::in(order.timeout);
  const Prepared prepared = TRY(prepare(context, order, deadline));
  node::Record record = begin_record(context, order, prepared.pod);
  std::optional<FolderLock> lock = TRY(claim(context, name_of(record), deadline));
  const Status handed_over = hand_over(context, record, order, deadline);
  lock.reset();
  if (!handed_over) return undo(context, record, ok(), handed_over.error());
  Lease lease(prepared.ipam);
  Result<cni::AddResult> result =
      complete(context, record, order, prepared.function, lease, deadline);
  if (result) return result;
  Status returned = lease.give_back(context);
  return undo(context, record, std::move(returned), result.error());
}

}  // namespace ibpod::attach
