#include "lib/attach/release.h"

#include "lib/attach/binding.h"
#include "lib/attach/ipam.h"
#include "lib/cni/errors.h"
#include "lib/node/child.h"
#include "lib/node/restore.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

// True if the device may still have the attachment's state. A reboot has reset it: then only traces
// of the attachment count (node::has_traces), and a VF without a GUID is not the pod's doing.
Result<bool> is_left(const Context& context, const node::Record& record) {
  if (record.boot_id == context.host.boot_id) return true;
  if (record.child) return false;
  return node::has_traces(context.host.kernel, record);
}

Status take_back(const Context& context, node::Record& record, Deadline deadline) {
  const bool left = TRY(is_left(context, record));
  if (!left) return ok();
  if (record.child) return node::remove_child(context.host.kernel, record, deadline);
  const auto write = [&](const node::Record& now) { return context.host.records.write(now); };
  return node::restore(context.host.kernel, record, write, deadline);
}

// False while the port has keys and a requested GUID: under another GUID it would not be visible
// when the keys have left.
bool may_take_back(const node::Record& record, const Status& unbound) {
  return unbound.ok() || !record.spec.guids;
}

// The current record. Nothing if it is gone, or belongs to another attempt, which is not ours to
// end.
Result<std::optional<node::Record>> still_there(const Context& context,
                                                const node::Record& record) {
  Result<node::Record> now = context.host.records.read(name_of(record));
  if (!now && now.error().code() != Code::not_found) return now.error();
  if (!now || now->attempt != record.attempt) return std::optional<node::Record>();
  return std::optional(std::move(now).value());
}

// Marks the record as ending, after which nothing is bound for it. Nothing if the record is gone or
// belongs to another attempt.
Result<std::optional<node::Record>> begin_end(const Context& context, const node::Record& record,
                                              Deadline deadline) {
  if (record.spec.partitions.empty() || record.stage != node::Stage::attached)
    return std::optional(record);
  const FolderLock lock = TRY(context.host.records.lock(name_of(record).folder, deadline));
  std::optional<node::Record> now = TRY(still_there(context, record));
  if (!now) return std::optional<node::Record>();
  now->stage = node::Stage::ending;
  TRY(context.host.records.write(*now));
  return now;
}

// True if the record is of another boot, and the port that the keys were given to is gone: the GUID
// was the attachment's own. No other port gets that GUID until the SM service has seen it without
// the keys.
Result<bool> is_port_gone(const Context& context, const node::Record& record) {
  if (record.boot_id == context.host.boot_id || !record.spec.guids) return false;
  const bool left = TRY(is_left(context, record));
  return !left;
}

Status end_record(const Context& context, node::Record record, const Status& unbound) {
  const bool gone = TRY(is_port_gone(context, record));
  if (unbound || gone) return context.host.records.remove(name_of(record));
  if (record.stage == node::Stage::pkey_pending) return ok();
  record.stage = node::Stage::pkey_pending;
  return context.host.records.write(record);
}

// Marks a child that could not be removed as ending: garbage collection continues its DEL.
Status note_ending(const Context& context, node::Record& record) {
  if (!record.child || record.stage != node::Stage::attached) return ok();
  record.stage = node::Stage::ending;
  return context.host.records.write(record);
}

Status give_back(const Context& context, node::Record& record, const Status& unbound,
                 Deadline deadline) {
  if (!may_take_back(record, unbound)) return ok();
  Errors errors;
  errors.collect(take_back(context, record, deadline));
  if (!errors.empty()) errors.collect(note_ending(context, record));
  return errors.status();
}

// Owed addresses are noted after the device is back, as the interface may still have them before,
// and before the record is removed. At pkey_pending they have been noted already.
Status end_device(const Context& context, const node::Record& record, const Status& unbound,
                  Deadline deadline, Addresses addresses) {
  const FolderLock lock = TRY(context.host.records.lock(name_of(record).folder, deadline));
  std::optional<node::Record> now = TRY(still_there(context, record));
  if (!now) return ok();
  const bool missing = TRY(is_missing(context, *now));
  if (!missing) TRY(give_back(context, *now, unbound, deadline));
  const bool owed = addresses == Addresses::perhaps && now->stage != node::Stage::pkey_pending;
  if (owed) TRY(owe_addresses(context, *now));
  return missing ? ok() : end_record(context, *std::move(now), unbound);
}

Result<bool> is_home(const Context& context, const ib::PciAddress& device) {
  const std::optional<node::Function> function = TRY(context.host.kernel.function(device));
  if (!function || !function->driver) return true;
  // It is not visible here whether a virtual machine has the device.
  if (node::is_vfio(*function->driver)) return false;
  const std::vector<node::RdmaDevice> devices =
      TRY(context.host.kernel.rdma_devices(node::kHost, device));
  const std::optional<node::Netdev> netdev =
      TRY(node::own_netdev(context.host.kernel, node::kHost, device));
  return !devices.empty() && netdev;
}

Status release_damaged_vf(const Context& context, const node::RecordName& name, Deadline deadline) {
  const ib::PciAddress device = TRY(ib::PciAddress::parse(name.folder));
  const bool home = TRY(is_home(context, device));
  if (home) return node::clear_identity(context.host.kernel, device, deadline);
  return Error(Code::busy,
               "record " + name.text() +
                   " is damaged, and a pod or a virtual machine may still have " + name.folder +
                   ": it stays out of service until the device is back in the host's namespace");
}

// Only the child's name and alias are known.
Status release_damaged_child(const Context& context, const node::RecordName& name,
                             Deadline deadline) {
  TRY(node::remove_child_on_host(context.host.kernel, name.folder));
  const bool elsewhere =
      TRY(node::may_child_be_in_any_namespace(context.host.kernel, name.folder, deadline));
  if (!elsewhere) return ok();
  return Error(Code::busy,
               "record " + name.text() +
                   " is damaged, and its IPoIB child is or may be in a pod: the record stays "
                   "until that pod's DEL has removed the child");
}

}  // namespace

Status check_records(const Context& context) {
  if (!context.host.expects_records || context.host.records.has_folder()) return ok();
  return Error(
             Code::unavailable,
             "records of attachments: " + context.host.records.folder().string() +
                 " is missing, although this node's agent created it: mount its disk; if the "
                 "records are lost, create the folder, and DEL restores what it finds without them")
      .reported_as(cni::kTryAgainLater);
}

Status EndResult::status() const {
  Errors errors;
  errors.collect(undone);
  errors.collect(unbound);
  return errors.status();
}

Result<bool> is_missing(const Context& context, const node::Record& record) {
  if (record.child || record.boot_id != context.host.boot_id) return false;
  const std::optional<node::Function> function = TRY(context.host.kernel.function(record.device));
  return !function;
}

Result<EndResult> end_attachment(const Context& context, const node::RecordName& name,
                                 Deadline deadline, Addresses addresses) {
  const Result<node::Record> found = context.host.records.read(name);
  if (!found && found.error().code() == Code::not_found) return EndResult();
  if (!found) return found.error();
  if (!is_this_attempt(context, found->attempt)) return EndResult();
  const std::optional<node::Record> record = TRY(begin_end(context, *found, deadline));
  if (!record) return EndResult();
  const Status unbound = end_binding(context, *record, deadline);
  Status undone = end_device(context, *record, unbound, deadline.at_least(kUndoTime), addresses);
  const Result<node::Record> left = context.host.records.read(name);
  const bool over = !left && left.error().code() == Code::not_found;
  return EndResult{std::move(undone), over ? ok() : unbound};
}

Status end_whole(const Context& context, const node::RecordName& name, Deadline deadline) {
  const EndResult outcome = TRY(end_attachment(context, name, deadline));
  return outcome.status();
}

bool is_damaged(const Result<node::Record>& record) {
  return !record && record.error().code() == Code::invalid;
}

Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline) {
  TRY(end_unread_binding(context, name, deadline));
  const FolderLock lock = TRY(context.host.records.lock(name.folder, deadline));
  TRY(node::is_child_link(name.folder) ? release_damaged_child(context, name, deadline)
                                       : release_damaged_vf(context, name, deadline));
  return context.host.records.remove(name);
}

}  // namespace ibpod::attach
