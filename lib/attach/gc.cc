#include "lib/attach/ipam.h"
#include "lib/attach/release.h"
#include "lib/attach/verbs.h"
#include "lib/node/restore.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

bool is_valid(const Context& context, const node::RecordName& name) {
  const std::vector<cni::Attachment>& valid = context.request.network.valid_attachments;
  return std::find(valid.begin(), valid.end(), cni::Attachment{name.container_id, name.ifname}) !=
         valid.end();
}

// Adds an attachment that must stay to `living`.
Status collect(const Context& context, const node::RecordName& name, Deadline deadline,
               std::vector<cni::Attachment>& living) {
  const Result<node::Record> record = context.host.records.read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (is_damaged(record)) return release_damaged(context, name, deadline);
  if (!record) return record.error();
  if (record->plugin != context.request.plugin || record->network != context.request.network.name)
    return ok();
  const node::Liveness liveness =
      TRY(node::liveness(context.host.kernel, *record, context.host.boot_id));
  if (liveness == node::Liveness::dead) return end_whole(context, name, deadline);
  if (liveness == node::Liveness::unknown)
    context.log.warn(name.text() + " stays: " + record->netns.path.string() +
                     " is not a namespace now, but the pod's namespace may still exist");
  living.push_back({name.container_id, name.ifname});
  return ok();
}

// Releases the network's owed addresses, even for attachments that the runtime calls valid: it does
// so as long as their DEL fails.
Status release_addresses_owed(const Context& context, const node::AddressReleaseName& name,
                              Deadline deadline) {
  const Result<node::Record> record = context.host.records.address_releases().read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (!record) return record.error();
  if (record->plugin != context.request.plugin || record->network != context.request.network.name)
    return ok();
  return release_owed(context, name, deadline);
}

// All share one deadline of at least kUndoTime, so that an IPAM plugin that does not answer is
// waited for only once.
Status release_addresses_owed(const Context& context, Deadline deadline) {
  const std::vector<node::AddressReleaseName> names =
      TRY(context.host.records.address_releases().all());
  deadline = deadline.at_least(kUndoTime);
  Errors errors;
  for (const node::AddressReleaseName& name : names)
    errors.collect(release_addresses_owed(context, name, deadline));
  return errors.status();
}

// The configuration with the living attachments added to the valid ones: IPAM must not release an
// address that is in use.
cni::Network with_living(const cni::Network& network, std::vector<cni::Attachment> living) {
  if (living.empty()) return network;
  living.insert(living.end(), network.valid_attachments.begin(), network.valid_attachments.end());
  json::Value list = json::Value::array();
  for (const cni::Attachment& one : living) {
    list.push(json::Value::object().set("containerID", one.container_id).set("ifname", one.ifname));
  }
  cni::Network extended = network;
  for (const std::string_view key : {"cni.dev/valid-attachments", "cni.dev/attachments"}) {
    if (network.document.find(key)) extended.document.set(key, list);
  }
  extended.text = extended.document.text();
  return extended;
}

Status forward_to_ipam(const Context& context, std::vector<cni::Attachment> living,
                       Deadline deadline) {
  const cni::Network network = with_living(context.request.network, std::move(living));
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context, network));
  if (!ipam) return ok();
  const bool knows = TRY(ipam->speaks(cni::kNewest, deadline));
  return knows ? ipam->gc(deadline) : ok();
}

}  // namespace

Status gc(const Context& context, const AttachmentDriver& driver, Deadline deadline) {
  TRY(check_records(context));
  const std::vector<node::RecordName> names = TRY(context.host.records.all());
  Errors errors;
  std::vector<cni::Attachment> living;
  for (const node::RecordName& name : names) {
    if (is_valid(context, name)) continue;
    errors.collect(collect(context, name, deadline, living), name.text());
  }
  errors.collect(release_addresses_owed(context, deadline));
  errors.collect(context.host.records.tidy());
  errors.collect(forward_to_ipam(context, std::move(living), deadline), "IPAM");
  errors.collect(driver.collect_strays(context));
  return errors.status();
}

}  // namespace ibpod::attach
