#include "lib/attach/ipam.h"
#include "lib/attach/pod.h"
#include "lib/attach/release.h"
#include "lib/attach/verbs.h"
#include "lib/node/child.h"
#include "lib/node/restore.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

// True if the folder has a record of another attachment.
Result<bool> belongs_to_another(const Context& context, const std::string& folder) {
  const std::vector<node::RecordName> names = TRY(context.host.records.in_folder(folder));
  return std::any_of(names.begin(), names.end(), [&](const node::RecordName& name) {
    return name.container_id != context.request.call.container_id ||
           name.ifname != context.request.call.ifname;
  });
}

Status take_from(const Context& context, const node::Namespace& pod, const std::string& folder,
                 Deadline deadline) {
  if (node::is_child_link(folder)) return node::remove_child_in(context.host.kernel, pod, folder);
  const ib::PciAddress device = TRY(ib::PciAddress::parse(folder));
  return node::return_to_host_from(context.host.kernel, pod, device, deadline);
}

Status release_unrecorded(const Context& context, const std::string& folder, Deadline deadline) {
  if (context.request.call.netns.empty()) return ok();
  const std::optional<node::Namespace> pod =
      TRY(context.host.kernel.find_namespace(context.request.call.netns));
  if (!pod) return ok();
  const bool own = TRY(is_own_namespace(context, *pod));
  if (own) return ok();
  const FolderLock lock = TRY(context.host.records.lock(folder, deadline));
  const bool taken = TRY(belongs_to_another(context, folder));
  return taken ? ok() : take_from(context, *pod, folder, deadline);
}

// For an attachment without a record. If the IPAM plugin is missing or does not support the
// configuration's version, ADD was refused and nothing is reserved: then DEL must not fail.
Status release_addresses_of_call(const Context& context, Deadline deadline) {
  const Result<std::optional<cni::Ipam>> ipam = ipam_of(context, context.request.network);
  // The plugin is not found, or its name is invalid.
  if (!ipam) {
    context.log.warn(ipam.error().text());
    return ok();
  }
  if (!*ipam || context.request.network.ipam_type == kDhcp) return ok();
  Status speaks = (*ipam)->check_version(deadline);
  if (!speaks && speaks.error().code() == Code::unsupported) {
    context.log.warn(speaks.error().text());
    return ok();
  }
  if (!speaks) return speaks;
  return timed(context, "IPAM DEL", [&] { return (*ipam)->del(deadline); });
}

// If only the partitions' keys are left, DEL succeeds: the agent keeps the device in quarantine
// until they have left its port.
Status release_as_far_as_possible(const Context& context, const node::RecordName& name,
                                  Deadline deadline) {
  const EndResult outcome = TRY(end_attachment(context, name, deadline));
  const Result<node::Record> left = context.host.records.read(name);
  const bool watched = left && left->stage == node::Stage::pkey_pending;
  if (outcome.undone && !outcome.unbound && watched) {
    context.log.warn(name.folder + " is out of service until the agent has ended its binding: " +
                     outcome.unbound.error().text());
    return ok();
  }
  return outcome.status();
}

// Releases the attachments of the readable records. Returns the folders of the damaged ones.
std::vector<std::string> release_recorded(const Context& context,
                                          const std::vector<node::RecordName>& names,
                                          Deadline deadline, Errors& errors) {
  std::vector<std::string> damaged;
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = context.host.records.read(name);
    if (!is_damaged(record)) {
      errors.collect(release_as_far_as_possible(context, name, deadline));
      continue;
    }
    context.log.warn(record.error().text() +
                     ": the record stays until garbage collection, and a VF stays out of service");
    damaged.push_back(name.folder);
  }
  return damaged;
}

// Releases the addresses still owed for this container and interface. `unread` gets the names of
// owed-address files that cannot be read: the caller releases those by the call's own network.
Status release_recorded_addresses(const Context& context,
                                  const std::vector<node::AddressReleaseName>& owed,
                                  Deadline deadline,
                                  std::vector<node::AddressReleaseName>& unread) {
  Errors errors;
  for (const node::AddressReleaseName& name : owed) {
    if (!is_this_attempt(context, name.attempt)) continue;
    Status released = release_owed(context, name, deadline.at_least(kUndoTime));
    const bool damaged =
        !released && is_damaged(context.host.records.address_releases().read(name));
    if (damaged) unread.push_back(name);
    errors.collect(damaged ? ok() : std::move(released));
  }
  return errors.status();
}

// For attachments without a readable record.
Status release_by_call(const Context& context, const std::vector<std::string>& folders,
                       const std::vector<node::AddressReleaseName>& unread, Deadline deadline) {
  Errors errors;
  for (const std::string& one : folders) {
    errors.collect(release_unrecorded(context, one, deadline));
  }
  const Status released = release_addresses_of_call(context, deadline);
  errors.collect(released);
  for (const node::AddressReleaseName& name : unread) {
    if (released) errors.collect(forget_owed(context, name, deadline));
  }
  // A process that released the addresses may have been killed before it removed their folder.
  errors.collect(context.host.records.address_releases().tidy(context.request.call.container_id,
                                                              context.request.call.ifname));
  return errors.status();
}

}  // namespace

Status del(const Context& context, const std::string& folder, Duration timeout) {
  TRY(check_records(context));
  // Undoing takes no less time if ADD's timeout was short.
  const Deadline deadline = Deadline::in(std::max(timeout, kUndoTime));
  const std::vector<node::RecordName> names = TRY(context.host.records.of_attachment(
      context.request.call.container_id, context.request.call.ifname));
  Errors errors;
  std::vector<std::string> rest = release_recorded(context, names, deadline, errors);
  // Includes the addresses that release_recorded() has just left.
  const std::vector<node::AddressReleaseName> owed =
      TRY(context.host.records.address_releases().of_attachment(context.request.call.container_id,
                                                                context.request.call.ifname));
  std::vector<node::AddressReleaseName> unread;
  errors.collect(release_recorded_addresses(context, owed, deadline, unread));
  const bool one_attempt = context.request.call.environment.contains(std::string(kOnlyAttempt));
  const bool recorded = rest.size() < names.size() || unread.size() < owed.size();
  if (recorded || one_attempt) return errors.status();
  if (names.empty() && !folder.empty()) rest.push_back(folder);
  errors.collect(release_by_call(context, rest, unread, deadline));
  return errors.status();
}

}  // namespace ibpod::attach
