// The part of BindingRegistry about observations of ports.
#include "sm/bindings/binding_registry.h"
#include "sm/partitions/former_members.h"

#include <algorithm>

namespace ibpod::sm::bindings {
namespace {

using fabric::BindingState;
using fabric::Condition;
using fabric::Proof;
using fabric::Reason;
using state::BindingRecord;
using state::Now;
using state::PartitionRecord;
using state::PortRecord;
using state::Records;

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

// The first partition of the binding that requires more than `proof`; nothing if none does.
std::optional<std::string> find_unproved(const Records& records, const BindingRecord& entry,
                                         Proof proof) {
  if (proof == Proof::port) return std::nullopt;
  for (const fabric::PartitionMembership& membership : all_memberships(entry)) {
    const PartitionRecord* const record = records.find_partition(membership.partition);
    if (record == nullptr || !satisfies(proof, record->partition.proof))
      return membership.partition;
  }
  return std::nullopt;
}

}  // namespace

struct BindingRegistry::Observed {
  ib::Guid guid;
  uint64_t version;
  Proof proof;
  fabric::Enforcement enforcement;
  Source source;
  Now now;
};

void BindingRegistry::note_written(uint64_t version, Now now) {
  if (!journal_.is_readable()) return;
  const std::set<ib::Guid> requested = records().requested;
  for (const ib::Guid guid : requested) {
    const PortRecord& port = journal_.state().port(guid);
    if (port.changed_in > version) continue;
    for (BindingRecord* const entry : port.bindings)
      if (entry->binding.state == BindingState::requested)
        journal_.set_status(*entry, BindingState::written, entry->binding.condition, now);
    journal_.state().update_unsettled(guid);
  }
}

bool BindingRegistry::note_verified(ib::Guid guid, uint64_t version, Proof proof,
                                    fabric::Enforcement enforcement, Now now) {
  return note_observed({guid, version, proof, enforcement, Source::exact, now});
}

bool BindingRegistry::note_present(ib::Guid guid, uint64_t version, Proof proof,
                                   fabric::Enforcement enforcement, Now now) {
  return note_observed({guid, version, proof, enforcement, Source::present, now});
}

bool BindingRegistry::note_clean(ib::Guid guid, uint64_t version, Proof proof, Now now) {
  return note_observed({guid, version, proof, fabric::Enforcement::unknown, Source::clean, now});
}

bool BindingRegistry::note_observed(const Observed& seen) {
  const PortRecord* const port = records().find_port(seen.guid);
  if (!journal_.is_readable() || port == nullptr || seen.version < port->changed_in) return false;
  const std::vector<BindingRecord*> entries = port->bindings;  // a copy: some may be removed
  if (seen.source != Source::clean) journal_.state().port(seen.guid).condition = {};
  if (seen.source != Source::present) partitions::note_left_all(journal_, seen.guid, seen.proof);
  for (BindingRecord* const entry : entries) note_binding(*entry, seen);
  journal_.refresh(seen.guid);
  return true;
}

bool BindingRegistry::needs_no_proof(ib::Guid guid) const {
  const PortRecord* const port = records().find_port(guid);
  if (port == nullptr || port->bindings.empty()) return false;
  return std::all_of(port->bindings.begin(), port->bindings.end(),
                     [&](const BindingRecord* entry) {
                       return !find_unproved(records(), *entry, Proof::none);
                     }) &&
         std::all_of(port->former_member_of.begin(), port->former_member_of.end(),
                     [](const PartitionRecord* record) {
                       return satisfies(Proof::none, record->partition.proof);
                     });
}

void BindingRegistry::note_binding(BindingRecord& entry, const Observed& seen) {
  fabric::Binding& binding = entry.binding;
  if (const auto unproved = find_unproved(records(), entry, seen.proof)) {
    if (binding.state == BindingState::verified || seen.source == Source::clean) return;
    journal_.set_status(
        entry, binding.state,
        {Reason::waiting, "partition " + *unproved +
                              " requires proof from the port (proof: port); so far only the "
                              "node has reported"},
        seen.now);
    return;
  }
  const bool widens = binding.applied != binding.desired;
  const bool awaits_removal =
      widens || !entry.pending_removal.empty() || binding.state == BindingState::releasing;
  if (seen.source == Source::present && awaits_removal) return;
  if (binding.state == BindingState::releasing) return journal_.remove(entry, seen.now);
  if (awaits_removal) {
    journal_.staged().note_conflict_freed();
    journal_.state().set_memberships(entry, binding.desired, binding.desired, {});
    journal_.staged().add(entry);
  }
  if (widens)
    return journal_.set_status(entry, BindingState::requested, {Reason::waiting, ""}, seen.now);
  if (seen.source == Source::clean) return;
  if (entry.lease_expired) return;
  if (binding.proof != seen.proof || binding.enforcement != seen.enforcement)
    journal_.staged().note_changed(entry);
  binding.proof = seen.proof;
  binding.enforcement = seen.enforcement;
  journal_.set_status(entry, BindingState::verified, {}, seen.now);
}

void BindingRegistry::set_condition(ib::Guid guid, const Condition& status, Now now) {
  if (!journal_.is_readable() || records().find_port(guid) == nullptr) return;
  PortRecord& port = journal_.state().port(guid);
  const Finding found = finding(status.reason);
  // "capacity" explains more than the list of missing keys.
  if (found != Finding::nothing || status.reason == Reason::capacity) port.condition = status;
  for (BindingRecord* const entry : port.bindings) {
    const BindingState state = entry->binding.state;
    if (entry->lease_expired || (state == BindingState::verified && found == Finding::nothing))
      continue;
    journal_.set_status(*entry, state_after(state, found), status, now);
  }
  journal_.state().update_unsettled(guid);
}

void BindingRegistry::invalidate_verified(const Condition& status, Now now) {
  if (!journal_.is_readable()) return;
  journal_.state().for_each_binding([&](BindingRecord& entry) {
    if (entry.binding.state != BindingState::verified) return;
    journal_.set_status(entry, BindingState::written, status, now);
    journal_.state().update_unsettled(entry.binding.guid);
  });
}

void BindingRegistry::note_full_scan(state::Steady began) {
  journal_.state().forget_released(began);
}

}  // namespace ibpod::sm::bindings
