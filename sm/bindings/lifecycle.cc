#include "sm/bindings/lifecycle.h"

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
