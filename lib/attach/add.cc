#include "lib/attach/add.h"

#include "lib/attach/address_release.h"
#include "lib/attach/addresses.h"
#include "lib/attach/binding.h"
#include "lib/attach/acquire_device.h"
#include "lib/attach/interface.h"
#include "lib/attach/ipam_allocation.h"
#include "lib/attach/partition.h"
#include "lib/attach/release.h"
#include "lib/attach/validate.h"
#include "lib/ib/hex.h"
#include "lib/node/vf.h"

#include <random>

namespace ibpod::attach {
namespace {

// How long an interface may take from an ACTIVE port to carrier: one join of the broadcast group.
constexpr Duration kCarrier{3000};

node::Record begin_record(const Context& context, const node::Wanted& wanted,
                          const node::Namespace& pod) {
  node::Record record;
  record.plugin = context.plugin;
  record.attempt = ib::hex(std::random_device()(), 8);
  record.network = context.network.name;
  record.container_id = context.call.container_id;
  record.ifname = context.call.ifname;
  record.pod = {context.call.pod.name_space, context.call.pod.name, context.call.pod.uid};
  record.netns = pod;
  record.boot_id = context.boot_id;
  record.wanted = wanted;
  record.configuration = context.network.text;
  record.cni_args = context.call.args;
  for (const Path& folder : context.call.path)
    record.cni_path += (record.cni_path.empty() ? "" : ":") + folder.string();
  return record;
}

Status announce(const Context& context, const node::Record& record,
                const node::Addressing& addressing, Deadline deadline) {
  if (addressing.addresses.empty()) return ok();
  const std::optional<node::Netdev> netdev =
      TRY(await_carrier(context, record, deadline.at_most(kCarrier)));
  if (netdev) return context.kernel.announce(record.netns, netdev->index, addressing.addresses);
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
  if (!record.child) interface.pci_id = record.device.text();
  if (node::is_vfio(record.found.driver)) return interface;
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  interface.mac = nl::text(netdev.address);
  interface.mtu = netdev.mtu;
  return interface;
}

// Under the folder's lock.
Status hand_over(const Context& context, Endpoint& endpoint, node::Record& record,
                 Deadline deadline) {
  TRY(check_still_there(context, record.netns));
  return endpoint.hand_over(context, record, deadline);
}

Result<cni::AddResult> complete(const Context& context, Endpoint& endpoint, node::Record& record,
                                Lease& lease, Deadline deadline) {
  const Joined joined = TRY(endpoint.join(context, record, place_for(lease.wanted()), deadline));
  cni::AddResult result;
  if (lease.wanted()) result = TRY(assign_addresses(context, record, lease, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  // As containernetworking's plugins have it: what the network says goes before what IPAM says.
  if (!context.network.dns.is_null()) result.dns = context.network.dns;
  for (const ib::PKey key : joined.unverified) result.unverified.push_back(key.text());
  TRY(endpoint.tell(context, record, joined.membership));
  // Of a DEL while IPAM was asked nobody is left to give the addresses back.
  TRY(check_still_ours(context, record));
  return result;
}

// A DEL may have taken the record away meanwhile, and asked IPAM too early: what IPAM owes is noted
// whether there is a record or not.
Status undo_all(const Context& context, const node::Record& record, const Lease& lease) {
  const Deadline deadline = Deadline::in(kUndoTime);
  Errors errors;
  if (lease.asked()) errors.collect(owe_addresses(context, record));
  const Ending ending = TRY(end_attachment(context, name_of(record), deadline,
                                           lease.asked() ? Addresses::perhaps : Addresses::none));
  errors.collect(ending.status());
  if (ending.undone && lease.asked())
    errors.collect(release_owed(context, {record.container_id, record.ifname, record.attempt},
                                deadline.at_least(kUndoTime),
                                lease.refused() ? Refusal::settles : Refusal::stays));
  return errors.status();
}

// The first error stands; what could not be undone is added to it.
Error undo(const Context& context, const node::Record& record, const Lease& lease, Error error) {
  const Status undone = undo_all(context, record, lease);
  if (undone) return error;
  return std::move(error).also(
      Error(undone.error()).during("and some of it could not be undone yet"));
}

}  // namespace

Result<cni::AddResult> add(const Context& context, Endpoint& endpoint, const node::Wanted& wanted,
                           Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  const Prepared prepared = TRY(prepare(context, endpoint, deadline));
  TRY(check_binder(context, wanted, deadline));
  const node::RecordName name{endpoint.folder(context.call), context.call.container_id,
                              context.call.ifname};
  node::Record record = begin_record(context, wanted, prepared.pod);
  std::optional<FolderLock> lock = TRY(claim(context, name, deadline));
  const Status handed_over = hand_over(context, endpoint, record, deadline);
  lock.reset();
  Lease lease(prepared.ipam);
  if (!handed_over) return undo(context, record, lease, handed_over.error());
  Result<cni::AddResult> result = complete(context, endpoint, record, lease, deadline);
  if (result) return result;
  return undo(context, record, lease, result.error());
}

}  // namespace ibpod::attach
