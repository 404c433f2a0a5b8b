#include "lib/attach/verbs.h"

#include "lib/attach/acquire_device.h"
#include "lib/attach/binding.h"
#include "lib/attach/ipam.h"
#include "lib/attach/partition.h"
#include "lib/attach/pod.h"
#include "lib/attach/release.h"
#include "lib/ib/hex.h"
#include "lib/node/vf.h"

#include <random>

namespace ibpod::attach {
namespace {

// How long an interface may take from an ACTIVE port to carrier: one join of the broadcast group.
constexpr Duration kCarrier{3000};

struct Validated {
  node::Namespace pod;
  std::optional<cni::Ipam> ipam;
};

// All that can be refused without touching the device, each with the specification's code: a
// namespace or an interface name that cannot be, a device that cannot be given, an IPAM that is
// missing or does not speak the configuration's version.
Result<Validated> validate(const Context& context, AttachmentDriver& driver, Deadline deadline) {
  TRY(check_records(context));
  Validated validated;
  validated.pod = TRY(pod_namespace(context));
  TRY(check_name_is_free(context, validated.pod));
  TRY(driver.check_usable(context));
  validated.ipam = TRY(ipam_of(context, context.network));
  if (validated.ipam) {
    TRY(timed(context, "IPAM VERSION", [&] { return validated.ipam->check_version(deadline); }));
  }
  return validated;
}

node::Record begin_record(const Context& context, const node::Spec& spec,
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
  record.spec = spec;
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
                                        IpamAllocation& allocation, Deadline deadline) {
  cni::AddResult result = TRY(allocation.allocate(context, deadline));
  for (cni::IpConfig& ip : result.ips) ip.interface = 0;
  if (node::is_vfio(record.original.driver)) return result;
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
  if (node::is_vfio(record.original.driver)) return interface;
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  interface.mac = nl::text(netdev.address);
  interface.mtu = netdev.mtu;
  return interface;
}

// Under the folder's lock.
Status attach_device(const Context& context, AttachmentDriver& driver, node::Record& record,
                     Deadline deadline) {
  TRY(check_still_there(context, record.netns));
  return driver.attach(context, record, deadline);
}

Result<cni::AddResult> complete(const Context& context, AttachmentDriver& driver,
                                node::Record& record, IpamAllocation& allocation,
                                Deadline deadline) {
  const ReadyResult joined = TRY(driver.wait_ready(
      context, record, index_requirement_for(allocation.is_configured()), deadline));
  cni::AddResult result;
  if (allocation.is_configured())
    result = TRY(assign_addresses(context, record, allocation, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  // As containernetworking's plugins have it: what the network says goes before what IPAM says.
  if (!context.network.dns.is_null()) result.dns = context.network.dns;
  for (const ib::PKey key : joined.unverified) result.unverified.push_back(key.text());
  TRY(driver.publish(context, record, joined.entry));
  // After a DEL that came while IPAM was called, no later call would release the addresses.
  TRY(check_still_ours(context, record));
  return result;
}

// A DEL may have taken the record away meanwhile, and asked IPAM too early: what IPAM owes is noted
// whether there is a record or not.
Status undo_all(const Context& context, const node::Record& record,
                const IpamAllocation& allocation) {
  const Deadline deadline = Deadline::in(kUndoTime);
  Errors errors;
  if (allocation.was_requested()) errors.collect(owe_addresses(context, record));
  const EndResult outcome =
      TRY(end_attachment(context, name_of(record), deadline,
                         allocation.was_requested() ? Addresses::perhaps : Addresses::none));
  errors.collect(outcome.status());
  if (outcome.undone && allocation.was_requested())
    errors.collect(release_owed(
        context, {record.container_id, record.ifname, record.attempt}, deadline.at_least(kUndoTime),
        allocation.was_refused() ? RefusalPolicy::forget : RefusalPolicy::keep_owed));
  return errors.status();
}

// The first error stands; what could not be undone is added to it.
Error undo(const Context& context, const node::Record& record, const IpamAllocation& allocation,
           Error error) {
  const Status undone = undo_all(context, record, allocation);
  if (undone) return error;
  return std::move(error).also(Error(undone.error()).during("the rollback is not complete"));
}

}  // namespace

Result<cni::AddResult> add(const Context& context, AttachmentDriver& driver, const node::Spec& spec,
                           Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  const Validated validated = TRY(validate(context, driver, deadline));
  TRY(require_sm(context, spec, deadline));
  const node::RecordName name{driver.folder(context.call), context.call.container_id,
                              context.call.ifname};
  node::Record record = begin_record(context, spec, validated.pod);
  std::optional<FolderLock> lock = TRY(acquire_device(context, name, deadline));
  const Status handed_over = attach_device(context, driver, record, deadline);
  lock.reset();
  IpamAllocation allocation(validated.ipam);
  if (!handed_over) return undo(context, record, allocation, handed_over.error());
  Result<cni::AddResult> result = complete(context, driver, record, allocation, deadline);
  if (result) return result;
  return undo(context, record, allocation, result.error());
}

}  // namespace ibpod::attach
