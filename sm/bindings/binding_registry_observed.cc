// Observations of the subnet.
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;
using fabric::Condition;
using fabric::PartitionState;
using fabric::Proof;
using fabric::Reason;

// The meaning of a reason for a port's table.
enum class Finding { nothing, wrong, unknown };

Finding finding(Reason reason) {
  switch (reason) {
    case Reason::unreachable:
    case Reason::timeout:
    case Reason::port_down:
    case Reason::port_unknown:
    case Reason::vport:
    case Reason::duplicate:
      return Finding::unknown;
    case Reason::refused:
    case Reason::foreign_key:
    case Reason::missing_key:
      return Finding::wrong;
    default:
      return Finding::nothing;
  }
}

BindingState state_after(BindingState state, Finding found) {
  if (state != BindingState::verified && state != BindingState::unknown) return state;
  if (found == Finding::wrong) return BindingState::written;
  return found == Finding::unknown ? BindingState::unknown : state;
}

}  // namespace

struct Registry::Observed {
  ib::Guid guid;
  uint64_t version;
  Proof proof;
  fabric::Enforcement enforcement;
  Source source;
  Now now;
};

void Registry::note_written(uint64_t version, Now now) {
  if (!state_readable_) return;
  const std::set<ib::Guid> requested = state_->requested;
  for (const ib::Guid guid : requested) {
    const PortRecord& port = state_->port(guid);
    if (port.changed_in > version) continue;
    for (BindingRecord* const entry : port.bindings)
      if (entry->binding.state == BindingState::requested)
        set_state(*entry, BindingState::written, entry->binding.condition, now);
    state_->update_unsettled(guid);
  }
}

void Registry::note_swept(uint64_t version) {
  if (!state_readable_) return;
  for (auto at = state_->partitions.begin(); at != state_->partitions.end();) {
    PartitionRecord& record = at->second;
    ++at;  // it may be removed
    if (record.version > version) continue;
    record.swept = true;
    if (record.state == PartitionState::provisioning) {
      record.state = PartitionState::ready;
      record.condition = {};
    }
    finish_if_gone(record);
  }
}

bool Registry::note_verified(ib::Guid guid, uint64_t version, Proof proof,
                             fabric::Enforcement enforcement, Now now) {
  return note_observed({guid, version, proof, enforcement, Source::exact, now});
}

bool Registry::note_clean(ib::Guid guid, uint64_t version, Proof proof, Now now) {
  return note_observed({guid, version, proof, fabric::Enforcement::unknown, Source::clean, now});
}

bool Registry::note_observed(const Observed& seen) {
  const PortRecord* const port = state_->find_port(seen.guid);
  if (!state_readable_ || port == nullptr || seen.version < port->changed_in) return false;
  const std::vector<BindingRecord*> entries = port->bindings;  // a copy: some may be removed
  if (seen.source == Source::exact) state_->port(seen.guid).condition = {};
  note_leaving(seen);
  for (BindingRecord* const entry : entries) note_binding(*entry, seen);
  refresh(seen.guid);
  return true;
}

std::optional<std::string> Registry::find_unproved(const BindingRecord& entry, Proof proof) const {
  if (proof == Proof::port) return std::nullopt;
  for (const fabric::PartitionMembership& membership : all_memberships(entry)) {
    const PartitionRecord* const record = state_->find_partition(membership.partition);
    if (record == nullptr || !satisfies(proof, record->partition.proof))
      return membership.partition;
  }
  return std::nullopt;
}

bool Registry::needs_no_proof(ib::Guid guid) const {
  const PortRecord* const port = state_->find_port(guid);
  if (port == nullptr || port->bindings.empty()) return false;
  return std::all_of(
             port->bindings.begin(), port->bindings.end(),
             [&](const BindingRecord* entry) { return !find_unproved(*entry, Proof::none); }) &&
         std::all_of(port->former_member_of.begin(), port->former_member_of.end(),
                     [](const PartitionRecord* record) {
                       return satisfies(Proof::none, record->partition.proof);
                     });
}

void Registry::note_binding(BindingRecord& entry, const Observed& seen) {
  fabric::Binding& binding = entry.binding;
  if (const auto unproved = find_unproved(entry, seen.proof)) {
    if (binding.state == BindingState::verified) return;
    set_state(entry, binding.state,
              {Reason::waiting, "partition " + *unproved +
                                    " requires proof from the port (proof: port); so far only the "
                                    "node has reported"},
              seen.now);
    return;
  }
  if (binding.state == BindingState::releasing) return finish(entry, seen.now);
  const bool widens = binding.applied != binding.desired;
  if (widens || !entry.pending_removal.empty()) {
    state_->unindex_memberships(entry);
    entry.pending_removal.clear();
    ++conflicts_freed_;
    binding.applied = binding.desired;
    state_->index_memberships(entry);
    stage(entry);
  }
  if (widens) return set_state(entry, BindingState::requested, {Reason::waiting, ""}, seen.now);
  if (seen.source != Source::exact) return;
  if (entry.lease_expired) return;
  if (binding.proof != seen.proof || binding.enforcement != seen.enforcement) changed(entry);
  binding.proof = seen.proof;
  binding.enforcement = seen.enforcement;
  set_state(entry, BindingState::verified, {}, seen.now);
}

void Registry::note_leaving(const Observed& seen) {
  const std::set<PartitionRecord*> leaving = state_->port(seen.guid).former_member_of;
  for (PartitionRecord* const record : leaving) {
    if (!satisfies(seen.proof, record->partition.proof)) continue;
    has_left(seen.guid, *record);
    finish_if_gone(*record);
  }
}

// The caller calls refresh(): the port may have to be removed.
void Registry::has_left(ib::Guid guid, PartitionRecord& record) {
  state_->port(guid).former_member_of.erase(&record);
  record.former_members.erase(guid);
  record.never_seen.erase(guid);
  stage(record);
}

void Registry::note_seen(const std::function<bool(ib::Guid)>& met) {
  if (!state_readable_) return;
  for (auto& [name, record] : state_->partitions)
    std::erase_if(record.never_seen, [&](ib::Guid guid) {
      return met(guid) ||
             (!record.former_members.contains(guid) && !record.engine_members.contains(guid));
    });
}

void Registry::note_never_seen(ib::Guid guid, uint64_t version) {
  const PortRecord* const port = state_->find_port(guid);
  if (!state_readable_ || port == nullptr || version < port->changed_in) return;
  const std::set<PartitionRecord*> leaving = port->former_member_of;
  for (PartitionRecord* const record : leaving) {
    if (!record->never_seen.contains(guid)) continue;
    has_left(guid, *record);
    finish_if_gone(*record);
  }
  refresh(guid);
}

void Registry::note_deleted(Now now) {
  if (!state_readable_) return;
  for (auto& [name, record] : state_->partitions)
    if (record.deleting() && record.delete_began == Steady{}) record.delete_began = now.steady;
}

void Registry::finish_if_gone(PartitionRecord& record) {
  if (record.deleting() && record.swept && record.former_members.empty()) finish(record);
}

void Registry::set_condition(ib::Guid guid, const Condition& status, Now now) {
  if (!state_readable_ || state_->find_port(guid) == nullptr) return;
  PortRecord& port = state_->port(guid);
  const Finding found = finding(status.reason);
  // The reason why a table cannot be repaired says more than what is missing in it.
  if (found != Finding::nothing || status.reason == Reason::capacity) port.condition = status;
  for (BindingRecord* const entry : port.bindings) {
    const BindingState state = entry->binding.state;
    if (entry->lease_expired || (state == BindingState::verified && found == Finding::nothing))
      continue;
    set_state(*entry, state_after(state, found), status, now);
  }
  state_->update_unsettled(guid);
}

void Registry::invalidate_verified(const Condition& status, Now now) {
  if (!state_readable_) return;
  for (auto& [attachment, entry] : state_->bindings) {
    if (entry.binding.state != BindingState::verified) continue;
    set_state(entry, BindingState::written, status, now);
    state_->update_unsettled(entry.binding.guid);
  }
}

void Registry::set_engine_fault(const Condition& status) {
  if (!state_readable_) return;
  for (auto& [name, record] : state_->partitions) {
    if (status.reason != Reason::none && record.state == PartitionState::provisioning) {
      record.state = PartitionState::error;
      record.condition = status;
    } else if (status.reason == Reason::none && record.state == PartitionState::error) {
      record.state = record.swept ? PartitionState::ready : PartitionState::provisioning;
      record.condition = {};
    }
  }
}

}  // namespace ibpod::sm::registry
