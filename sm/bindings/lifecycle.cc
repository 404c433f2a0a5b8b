#include "sm/bindings/lifecycle.h"

#include "sm/bindings/authz.h"

#include <utility>

namespace ibpod::sm::bindings {
namespace {

using fabric::BindingState;
using fabric::Condition;
using fabric::Reason;
using state::BindingRecord;
using state::Journal;
using state::Memberships;
using state::Now;

// The condition of a binding whose lease has ended, or is ended early.
Condition silent(const BindingRecord& entry) {
  return {Reason::lease,
          "no contact with node " + entry.binding.attachment.node + " for a whole lease"};
}
Condition not_named(const BindingRecord& entry) {
  return {Reason::lease,
          "node " + entry.binding.attachment.node + " no longer reports this attachment"};
}

void expire(Journal& journal, BindingRecord& entry, Condition why, Now now) {
  journal.staged().note_expired(entry.binding.attachment);
  release(journal, entry, std::move(why), now);
}

}  // namespace

BindingRecord& create(Journal& journal, const fabricapi::Caller& caller,
                      const fabricapi::BindRequest& request, Memberships memberships, Now now) {
  if (claims_pf(caller, request, journal.records(), journal.policy())) {
    journal.state().claim(request.guid, request.attachment.node);
    journal.staged().add(state::RecordKind::node, request.attachment.node);
  }
  fabric::Binding binding;
  binding.attachment = request.attachment;
  binding.guid = request.guid;
  binding.guid_requested = request.guid_requested;
  binding.kind = request.kind;
  binding.pf = request.pf;
  binding.pf_guid = request.pf_guid;
  binding.device = request.device;
  binding.pod = request.pod;
  binding.applied = memberships;
  binding.desired = std::move(memberships);
  binding.generation = 1;
  binding.condition = {Reason::waiting, ""};
  binding.asked = binding.changed = now.wall;
  BindingRecord& entry = journal.state().add(std::move(binding), {});
  renew(journal, entry, now);
  journal.staged().add(entry);
  journal.refresh(entry.binding.guid);
  return entry;
}

void rebind(Journal& journal, BindingRecord& entry, Memberships memberships, Now now) {
  fabric::Binding& binding = entry.binding;
  Memberships pending = entry.pending_removal;
  const Memberships lost = state::only_in_first(binding.applied, memberships);
  pending.insert(pending.end(), lost.begin(), lost.end());
  Memberships applied =
      pending.empty() ? memberships : state::in_both(binding.applied, memberships);
  journal.state().set_memberships(entry, std::move(memberships), std::move(applied),
                                  std::move(pending));
  ++binding.generation;
  renew(journal, entry, now);
  journal.set_status(entry, BindingState::requested, {Reason::waiting, ""}, now);
  journal.staged().add(entry);
  journal.refresh(binding.guid);
}

void renew(Journal& journal, BindingRecord& entry, Now now) {
  if (entry.binding.state == BindingState::releasing) return;
  journal.state().renew_lease(entry, now.steady + journal.policy().lease);
  if (!entry.lease_expired) return;
  entry.lease_expired = false;
  journal.set_status(entry, BindingState::requested, {Reason::waiting, ""}, now);
  journal.state().update_unsettled(entry.binding.guid);
}

void end_lease(Journal& journal, BindingRecord& entry, Now now) {
  if (entry.missing_from_sync || journal.policy().at_lease_end == state::LeasePolicy::revoke)
    return expire(journal, entry, entry.missing_from_sync ? not_named(entry) : silent(entry), now);
  journal.state().end_lease(entry);
  entry.lease_expired = true;
  journal.set_status(entry, BindingState::unknown, silent(entry), now);
  journal.state().update_unsettled(entry.binding.guid);
}

void note_missing(Journal& journal, BindingRecord& entry, Now now) {
  entry.missing_from_sync = true;
  if (entry.lease_expired) expire(journal, entry, not_named(entry), now);
}

void release(Journal& journal, BindingRecord& entry, Condition why, Now now) {
  fabric::Binding& binding = entry.binding;
  if (binding.state == BindingState::releasing) return;
  journal.state().end_lease(entry);
  Memberships pending = entry.pending_removal;
  pending.insert(pending.end(), binding.applied.begin(), binding.applied.end());
  journal.state().set_memberships(entry, binding.desired, {}, std::move(pending));
  entry.lease_expired = false;
  journal.set_status(entry, BindingState::releasing, std::move(why), now);
  journal.staged().add(entry);
  journal.refresh(binding.guid);
}

}  // namespace ibpod::sm::bindings
