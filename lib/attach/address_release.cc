#include "lib/attach/address_release.h"

#include "lib/attach/addresses.h"
#include "lib/attach/release.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using node::AddressReleaseName;

// "" where it has none. A configuration that cannot be read any more may have one.
std::string ipam_type_of(const node::Record& record) {
  Result<json::Value> document = cni::parse_document(record.configuration);
  if (!document) return "IPAM";
  const Result<cni::Network> network =
      cni::parse_network(std::move(document).value(), record.configuration);
  return network ? network->ipam_type : "IPAM";
}

// Nothing is left but the keys in its port's table; or its function is not in the machine.
Result<bool> has_ended(const Context& context, const Result<node::Record>& record) {
  if (!record) return record.error().code() == Code::not_found;
  if (record->stage == node::Stage::pkey_pending) return true;
  return is_missing(context, *record);
}

// The device is not free yet where its record is still there.
Result<bool> is_device_free(const Context& context, const AddressReleaseName& name) {
  const std::vector<node::RecordName> left =
      TRY(context.records.of_attachment(name.container_id, name.ifname));
  for (const node::RecordName& one : left) {
    const bool ended = TRY(has_ended(context, context.records.read(one)));
    if (!ended)
      return Error(Code::busy, "addresses of " + name.container_id + ":" + name.ifname +
                                   ": IPAM does not release them before the attachment " +
                                   one.text() + " has ended");
  }
  return left.empty();
}

Error still_owed(const node::Record& record, bool device_free, const Error& cause) {
  const std::string device = node::name_of(record).folder;
  const std::string free = record.child ? "the IPoIB child " + device + " is removed"
                                        : device + " is back and free for the next pod";
  const std::string owed = "the pod's address is not yet released at ipam " + ipam_type_of(record) +
                           " (DEL, GC and the node's agent retry): ";
  return Error(cause).during((device_free ? free + ", but " : "") + owed + "IPAM DEL");
}

Status ask(const Context& context, const node::Record& record, Deadline deadline,
           RefusalPolicy refusal) {
  Status released = release_addresses(context, record, deadline);
  const bool refused = !released && released.error().code() == Code::denied;
  if (refusal != RefusalPolicy::forget || !refused) return released;
  context.warn("IPAM also refused the DEL: " + released.error().text());
  return ok();
}

}  // namespace

bool is_this_attempt(const Context& context, const std::string& attempt) {
  const auto only = context.call.environment.find(std::string(kOnlyAttempt));
  return only == context.call.environment.end() || only->second == attempt;
}

Status owe_addresses(const Context& context, const node::Record& record) {
  if (ipam_type_of(record).empty()) return ok();
  return timed(context, "record that IPAM has addresses to release", [&] {
    const Path own = context.records.file(node::name_of(record));
    return context.records.address_releases().write(record, own);
  });
}

Status release_owed(const Context& context, const AddressReleaseName& name, Deadline deadline,
                    RefusalPolicy refusal) {
  const node::AddressReleases& releases = context.records.address_releases();
  const FolderLock lock = TRY(releases.lock(name.container_id, name.ifname, deadline)
                                  .during("addresses of " + name.container_id + ":" + name.ifname));
  const Result<node::Record> record = releases.read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (!record) return record.error();
  const bool device_free = TRY(is_device_free(context, name));
  const Status released = ask(context, *record, deadline, refusal);
  if (!released) return still_owed(*record, device_free, released.error());
  // The process that ended the attachment may have been killed after it removed the record, and
  // before it removed the record's folder.
  TRY(context.records.tidy(node::name_of(*record).folder));
  return releases.remove(name);
}

Status forget_owed(const Context& context, const AddressReleaseName& name, Deadline deadline) {
  const node::AddressReleases& releases = context.records.address_releases();
  const FolderLock lock = TRY(releases.lock(name.container_id, name.ifname, deadline));
  return releases.remove(name);
}

}  // namespace ibpod::attach
