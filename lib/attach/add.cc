#include "lib/attach/acquire_device.h"
#include "lib/attach/agent_client.h"
#include "lib/attach/binding.h"
#include "lib/attach/ipam.h"
#include "lib/attach/partition.h"
#include "lib/attach/pod.h"
#include "lib/attach/release.h"
#include "lib/attach/verbs.h"
#include "lib/base/join.h"
#include "lib/ib/hex.h"
#include "lib/node/vf.h"

#include <random>

namespace ibpod::attach {
namespace {

// Time from an ACTIVE port to carrier: the interface joins the broadcast group once.
constexpr Duration kCarrier{3000};

struct Validated {
  node::Namespace pod;
  std::vector<std::string> char_devices;  // before the change
  std::optional<cni::Ipam> ipam;
};

// Checks all that can be checked without touching the device: namespace, interface name, device,
// and IPAM plugin with its version. Errors have the codes of the CNI specification.
Result<Validated> validate(const Context& context, const AttachmentDriver& driver,
                           Deadline deadline) {
  TRY(check_records(context));
  Validated validated;
  validated.pod = TRY(pod_namespace(context));
  TRY(check_name_is_free(context, validated.pod));
  validated.char_devices = TRY(driver.check_usable(context));
  validated.ipam = TRY(ipam_of(context, context.request.network));
  if (validated.ipam) {
    TRY(timed(context, "IPAM VERSION", [&] { return validated.ipam->check_version(deadline); }));
  }
  return validated;
}

node::Record begin_record(const Context& context, const node::Spec& spec,
                          const node::Namespace& pod) {
  const cni::Call& call = context.request.call;
  node::Record record;
  record.plugin = context.request.plugin;
  record.attempt = ib::hex(std::random_device()(), 8);
  record.network = context.request.network.name;
  record.container_id = call.container_id;
  record.ifname = call.ifname;
  record.pod = {call.pod.name_space, call.pod.name, call.pod.uid};
  record.netns = pod;
  record.boot_id = context.host.boot_id;
  record.spec = spec;
  record.configuration = context.request.network.text;
  record.cni_args = call.args;
  record.cni_path = join(call.path, ":", &Path::native);
  return record;
}

Status announce(const Context& context, const node::Record& record,
                const node::Addressing& addressing, Deadline deadline) {
  if (addressing.addresses.empty()) return ok();
  const std::optional<node::Netdev> netdev =
      TRY(await_carrier(context, record, deadline.at_most(kCarrier)));
  if (netdev)
    return context.host.kernel.announce(record.netns, netdev->index, addressing.addresses);
  context.log.warn("the addresses are not announced: " + record.ifname + " has no carrier yet");
  return ok();
}

// Asks IPAM for addresses and sets them on the pod's interface.
Result<cni::AddResult> assign_addresses(const Context& context, const node::Record& record,
                                        IpamAllocation& allocation, Deadline deadline) {
  cni::AddResult result = TRY(allocation.allocate(context, deadline));
  for (cni::IpConfig& ip : result.ips) ip.interface = 0;
  if (node::is_vfio(record.original.driver)) return result;
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  const node::Addressing addressing = addressing_of(result);
  TRY(context.host.kernel.configure(record.netns, netdev.index, addressing, deadline));
  const Status announced = announce(context, record, addressing, deadline);
  // Not an error: neighbors learn the address within about a minute.
  if (!announced) context.log.warn("the addresses are not announced: " + announced.error().text());
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

// The caller holds the folder's lock.
Status attach_device(const Context& context, const AttachmentDriver& driver, node::Record& record,
                     Deadline deadline) {
  TRY(check_still_there(context, record.netns));
  return driver.attach(context, record, deadline);
}

Result<cni::AddResult> complete(const Context& context, const AttachmentDriver& driver,
                                const std::vector<std::string>& char_devices, node::Record& record,
                                IpamAllocation& allocation, Deadline deadline) {
  const ReadyResult joined = TRY(driver.wait_ready(
      context, record, index_requirement_for(allocation.is_configured()), deadline));
  cni::AddResult result;
  if (allocation.is_configured())
    result = TRY(assign_addresses(context, record, allocation, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  // The network's DNS settings have precedence over IPAM's, as in the containernetworking plugins.
  if (!context.request.network.dns.is_null()) result.dns = context.request.network.dns;
  for (const ib::PKey key : joined.unverified) result.unverified.push_back(key.text());
  TRY(driver.publish(context, record, joined.entry, char_devices));
  // If a DEL came during the IPAM call, this ADD must fail: no later call would release the
  // addresses.
  TRY(check_still_ours(context, record));
  return result;
}

// A DEL may have removed the record and called IPAM too early, so the owed addresses are noted even
// without a record.
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

// Returns the first error, with what could not be undone added to it.
Error undo(const Context& context, const node::Record& record, const IpamAllocation& allocation,
           Error error) {
  const Status undone = undo_all(context, record, allocation);
  if (undone) return error;
  return std::move(error).also(Error(undone.error()).during("the rollback is not complete"));
}

node::RecordName name_in(const Context& context, const AttachmentDriver& driver) {
  const cni::Call& call = context.request.call;
  return {driver.folder(call), call.container_id, call.ifname};
}

// The spec of this attachment on this node. A node can require that each network names a partition.
Result<node::Spec> spec_for(const Context& context, const AttachmentDriver& driver) {
  const bool needed = TRY(context.host.agent.needs_partition());
  if (needed) TRY(require_partition(driver.spec(), context.request.settings.unknown));
  return context.host.sm_managed ? to_partition_request(driver.spec()) : driver.spec();
}

}  // namespace

Result<cni::AddResult> add(const Context& opened, AttachmentDriver& driver, Deadline deadline) {
  const bool sm_managed = TRY(await_agent(opened, deadline));
  const Context context = with_agent(opened, sm_managed);
  const bool has_part = TRY(driver.resolve(context, deadline));
  if (!has_part) return cni::AddResult();
  TRY(driver.check_allowed(context));
  const node::Spec spec = TRY(spec_for(context, driver));
  const Validated validated = TRY(validate(context, driver, deadline));
  if (names_partitions(spec)) TRY(require_sm(context, deadline));

  // Under the device's lock, the record is on disk before anything changes.
  node::Record record = begin_record(context, spec, validated.pod);
  std::optional<FolderLock> lock = TRY(acquire_device(context, name_in(context, driver), deadline));
  const Status attached = attach_device(context, driver, record, deadline);
  lock.reset();

  IpamAllocation allocation(validated.ipam);
  if (!attached) return undo(context, record, allocation, attached.error());
  Result<cni::AddResult> result =
      complete(context, driver, validated.char_devices, record, allocation, deadline);
  if (result) return result;
  return undo(context, record, allocation, result.error());
}

}  // namespace ibpod::attach
