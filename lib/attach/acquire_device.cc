#include "lib/attach/acquire_device.h"

#include "lib/attach/ipam.h"
#include "lib/attach/release.h"
#include "lib/base/folder_watch.h"
#include "lib/cni/errors.h"
#include "lib/node/describe.h"
#include "lib/node/restore.h"

#include <optional>

namespace ibpod::attach {
namespace {

// The end of a namespace does not change the records' folder, so the wait looks again this often.
constexpr Duration kCheckInterval{200};
// How long an ADD waits for the IPAM plugin of another pod's network.
constexpr Duration kIpamTimeout{5'000};

// A record that cannot be read may be that of a pod that has the device.
Error out_of_service(const std::string& folder, Error unread) {
  switch (unread.code()) {
    case Code::invalid:
      return Error(
          Code::busy,
          folder + " is out of service until garbage collection cleans it up: " + unread.text());
    case Code::unsupported:
      return Error(Code::busy, folder + " is out of service: " + unread.text());
    default:
      return unread;
  }
}

// The pod that a device still belongs to, for an error.
std::string holder_text(const node::Record& record, node::Liveness liveness) {
  if (liveness == node::Liveness::live) return describe_owner(record);
  return describe_owner(record) + " (" + record.netns.path.string() +
         " is not a namespace now, but the pod's namespace may still exist)";
}

// Not "try again later" (11): no later try can succeed.
Error twice_in_a_pod(const std::string& folder, const std::string& ifname) {
  return Error(
      Code::exists,
      folder + " is already in this pod, as " + ifname +
          ": two networks of the pod use the same device, which is not possible. Multus gives a "
          "default network (v1.multus-cni.io/default-network) and the pod's first network the same "
          "device if both have the same resource: use one resource per rail");
}

// The attachment that has the device, if any; `dead` gets the records to release. An error if
// waiting cannot help.
Result<std::optional<std::string>> holder(const Context& context, const node::RecordName& own,
                                          const std::vector<node::RecordName>& names,
                                          std::vector<node::RecordName>& dead) {
  std::optional<std::string> living;
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = context.host.records.read(name);
    if (!record && record.error().code() == Code::not_found) continue;
    if (!record) return out_of_service(own.folder, record.error());
    const node::Liveness liveness =
        TRY(node::liveness(context.host.kernel, *record, context.host.boot_id));
    // A record of our own name was left by an ADD that was killed.
    if (liveness == node::Liveness::dead || name == own) {
      dead.push_back(name);
    } else if (name.container_id == own.container_id) {
      return twice_in_a_pod(own.folder, name.ifname);
    } else {
      living = holder_text(*record, liveness);
    }
  }
  return living;
}

// The device is free for the next pod even if IPAM fails: addresses that it does not release now
// stay recorded as owed.
void give_addresses_back(const Context& context, const node::RecordName& name, Deadline deadline) {
  const auto owed =
      context.host.records.address_releases().of_attachment(name.container_id, name.ifname);
  if (!owed) return context.log.warn(owed.error().text());
  for (const node::AddressReleaseName& one : *owed) {
    const Status released = release_owed(context, one, deadline.at_most(kIpamTimeout));
    if (!released) context.log.warn(released.error().text());
  }
}

Result<bool> owes_addresses(const Context& context, const node::RecordName& own) {
  const std::vector<node::AddressReleaseName> owed =
      TRY(context.host.records.address_releases().of_attachment(own.container_id, own.ifname));
  return !owed.empty();
}

// IPAM plugins identify an address by container and interface: releasing an owed one later would
// release the address that this ADD gets.
Status check_owes_nothing(const Context& context, const node::RecordName& own, Deadline deadline) {
  const std::vector<node::AddressReleaseName> owed =
      TRY(context.host.records.address_releases().of_attachment(own.container_id, own.ifname));
  for (const node::AddressReleaseName& one : owed)
    TRY(release_owed(context, one, deadline).reported_as(cni::kTryAgainLater));
  return ok();
}

// Releases a stale record. A record with the same name afterwards belongs to a newer ADD.
Status release_left_over(const Context& context, const node::RecordName& name, Deadline deadline) {
  const std::string stale = "stale attachment " + name.text();
  // A later call may succeed, whatever the cause; until then the device is in quarantine.
  TRY(end_whole(context, name, deadline)
          .during(stale + " cannot be released")
          .reported_as(cni::kTryAgainLater));
  give_addresses_back(context, name, deadline);
  const Result<node::Record> still = context.host.records.read(name);
  if (!still || still->child) return ok();
  const std::optional<node::Function> function = TRY(context.host.kernel.function(still->device));
  if (function) return ok();
  return Error(Code::busy, stale + " stays: " + name.folder + " has been removed from the machine");
}

// The SM service knows a binding by the attachment's name, so two devices of one attachment must
// not have the same name. For network interfaces check_name_is_free() has checked this; a function
// on vfio-pci has no interface.
Status check_only_one(const Context& context, const node::RecordName& own, Deadline deadline) {
  const std::vector<node::RecordName> names =
      TRY(context.host.records.of_attachment(own.container_id, own.ifname));
  for (const node::RecordName& name : names) {
    if (name.folder == own.folder) continue;
    const Result<node::Record> record = context.host.records.read(name);
    if (!record && record.error().code() == Code::not_found) continue;
    if (!record) return out_of_service(name.folder, record.error());
    const node::Liveness liveness =
        TRY(node::liveness(context.host.kernel, *record, context.host.boot_id));
    if (liveness != node::Liveness::dead)
      return Error(Code::exists, "the pod already has " + own.ifname + ", on " + name.folder);
    TRY(release_left_over(context, name, deadline));
  }
  return ok();
}

}  // namespace

Result<FolderLock> acquire_device(const Context& context, const node::RecordName& own,
                                  Deadline deadline) {
  TRY(check_only_one(context, own, deadline));
  while (true) {
    // Looks once more after the deadline: the device may have been released just before it.
    const bool late = deadline.passed();
    std::vector<node::RecordName> dead;
    std::optional<std::string> living;
    std::optional<FolderWatch> watch;
    {
      node::LockedFolder locked = TRY(context.host.records.lock_and_list(own.folder, deadline));
      living = TRY(holder(context, own, locked.names, dead));
      const bool owes = TRY(owes_addresses(context, own));
      if (!living && dead.empty() && !owes) return std::move(locked.lock);
      watch = TRY(context.host.records.watch(own.folder));
    }
    if (!living && dead.empty()) {
      TRY(check_owes_nothing(context, own, deadline));
      continue;
    }
    if (late)
      return Error(
          Code::busy,
          own.folder + (living ? " still belongs to " + *living + ": its DEL has not been received"
                               : ": timed out while releasing stale attachments"));
    for (const node::RecordName& name : dead) TRY(release_left_over(context, name, deadline));
    if (living) TRY(watch->wait(deadline.at_most(kCheckInterval)));
  }
}

}  // namespace ibpod::attach
