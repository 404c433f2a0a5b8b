#include "lib/attach/gc.h"

#include "lib/attach/addresses.h"
#include "lib/attach/release.h"
#include "lib/node/restore.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

bool is_valid(const Context& context, const node::RecordName& name) {
  const std::vector<cni::Attachment>& valid = context.network.valid_attachments;
  return std::find(valid.begin(), valid.end(), cni::Attachment{name.container_id, name.ifname}) !=
         valid.end();
}

Status collect(const Context& context, const node::RecordName& name, Deadline deadline) {
  const Result<node::Record> record = context.records.read(name);
  if (!record && record.error().code() == Code::not_found) return ok();
  if (!record) return release_damaged(context, name, deadline);
  if (record->plugin != context.plugin || record->network != context.network.name) return ok();
  const bool live = TRY(node::is_live(context.kernel, *record, context.boot_id));
  return live ? ok() : release(context, name, deadline);
}

Status forward_to_ipam(const Context& context, Deadline deadline) {
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context));
  if (!ipam) return ok();
  const std::vector<cni::Version> versions = TRY(ipam->versions(deadline));
  const bool knows = std::find(versions.begin(), versions.end(), cni::kNewest) != versions.end();
  return knows ? ipam->gc(deadline) : ok();
}

}  // namespace

Status gc(const Context& context, Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  const std::vector<node::RecordName> names = TRY(context.records.all());
  Errors errors;
  for (const node::RecordName& name : names) {
    if (!is_valid(context, name)) errors.collect(collect(context, name, deadline), name.text());
  }
  errors.collect(context.records.tidy(deadline));
  errors.collect(forward_to_ipam(context, deadline), "IPAM");
  return errors.status();
}

}  // namespace ibpod::attach
