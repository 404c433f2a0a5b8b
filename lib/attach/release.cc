#include "lib/attach/release.h"

#include "lib/attach/addresses.h"
#include "lib/node/restore.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

Status release_device(const Context& context, const node::Record& record, Deadline deadline,
                      Errors& errors) {
  const FolderLock lock = TRY(context.records.lock(record.device, deadline));
  const Result<node::Record> now = context.records.read(name_of(record));
  // Somebody else was faster; or it ended and began anew meanwhile, and is not ours to end.
  if (!now || *now != record) return ok();
  const std::optional<node::Function> function = TRY(context.kernel.function(record.device));
  if (!function && record.boot_id == context.boot_id) return ok();
  errors.collect(node::restore(context.kernel, record, deadline));
  return errors.empty() ? context.records.remove(name_of(record)) : ok();
}

Result<bool> is_home(const Context& context, const ib::PciAddress& device) {
  const std::optional<node::Function> function = TRY(context.kernel.function(device));
  if (!function || !function->driver) return true;
  // Whether a virtual machine has it cannot be seen from here.
  if (node::is_vfio(*function->driver)) return false;
  const std::vector<node::RdmaDevice> devices =
      TRY(context.kernel.rdma_devices(node::kHost, device));
  const std::optional<node::Netdev> netdev =
      TRY(node::own_netdev(context.kernel, node::kHost, device));
  return !devices.empty() && netdev;
}

}  // namespace

Status release(const Context& context, const node::RecordName& name, Deadline deadline,
               std::optional<Status> addresses) {
  const Result<node::Record> record = context.records.read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (!record) return record.error();
  Errors errors;
  if (!addresses) addresses = release_addresses(context, *record, deadline);
  errors.collect(*std::move(addresses));
  const Deadline node_deadline = deadline.at_least(kUndoTime);
  Status device = release_device(context, *record, node_deadline, errors);
  errors.collect(std::move(device));
  return errors.status();
}

bool is_damaged(const Result<node::Record>& record) {
  return !record && record.error().code() == Code::invalid;
}

Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline) {
  const FolderLock lock = TRY(context.records.lock(name.device, deadline));
  const bool home = TRY(is_home(context, name.device));
  if (!home) {
    return Error(Code::busy,
                 "record " + name.text() +
                     " is damaged, and a pod or a virtual machine may still have " +
                     name.device.text() +
                     ": it stays out of service until the device is back in the host's namespace");
  }
  TRY(node::disown(context.kernel, name.device, deadline));
  return context.records.remove(name);
}

}  // namespace ibpod::attach
