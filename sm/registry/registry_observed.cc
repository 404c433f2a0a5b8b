// What has been found out about the subnet.
#include "sm/registry/state.h"
#include "sm/registry/registry.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Proof;
using fabric::Reason;
using fabric::Standing;
using fabric::State;
using fabric::TenancyState;

// What the reason says of a port's table.
enum class Finding { nothing, wrong, nobody_can_tell };

Finding finding(Reason reason) {
  switch (reason) {
    case Reason::unreachable:
    case Reason::timeout:
    case Reason::port_down:
    case Reason::port_unknown:
    case Reason::vport:
    case Reason::duplicate:
      return Finding::nobody_can_tell;
    case Reason::refused:
    case Reason::foreign_key:
    case Reason::missing_key:
      return Finding::wrong;
    default:
      return Finding::nothing;
  }
}

State behind(State state, Finding found) {
  if (state != State::verified && state != State::unknown) return state;
  if (found == Finding::wrong) return State::written;
  return found == Finding::nobody_can_tell ? State::unknown : state;
}

}  // namespace

struct Ledger::Seen {
  ib::Guid guid;
  uint64_t version;
  Proof proof;
  fabric::Enforcement enforcement;
  Evidence evidence;
  Now now;
};

void Ledger::note_written(uint64_t version, Now now) {
  if (!readable_) return;
  const std::set<ib::Guid> requested = book_->requested;
  for (const ib::Guid guid : requested) {
    const Port& port = book_->port(guid);
    if (port.changed_in > version) continue;
    for (Entry* const entry : port.bindings)
      if (entry->binding.state == State::requested)
        set_state(*entry, State::written, entry->binding.standing, now);
    book_->settle(guid);
  }
}

void Ledger::note_swept(uint64_t version) {
  if (!readable_) return;
  for (auto at = book_->tenants.begin(); at != book_->tenants.end();) {
    Tenant& tenant = at->second;
    ++at;  // it may go
    if (tenant.version > version) continue;
    tenant.swept = true;
    if (tenant.state == TenancyState::provisioning) {
      tenant.state = TenancyState::ready;
      tenant.standing = {};
    }
    finish_if_gone(tenant);
  }
}

bool Ledger::note_verified(ib::Guid guid, uint64_t version, Proof proof,
                           fabric::Enforcement enforcement, Now now) {
  return note({guid, version, proof, enforcement, Evidence::exact, now});
}

bool Ledger::note_clean(ib::Guid guid, uint64_t version, Proof proof, Now now) {
  return note({guid, version, proof, fabric::Enforcement::unknown, Evidence::clean, now});
}

bool Ledger::note(const Seen& seen) {
  const Port* const port = book_->find_port(seen.guid);
  if (!readable_ || port == nullptr || seen.version < port->changed_in) return false;
  const std::vector<Entry*> entries = port->bindings;  // some may go, and the port with them
  if (seen.evidence == Evidence::exact) book_->port(seen.guid).trouble = {};
  note_leaving(seen);
  for (Entry* const entry : entries) note_entry(*entry, seen);
  refresh(seen.guid);
  return true;
}

bool Ledger::enough(const Entry& entry, Proof proof) const {
  if (proof == Proof::port) return true;
  const auto enough_for = [&](const fabric::Share& share) {
    const Tenant* const tenant = book_->find_tenant(share.partition);
    return tenant != nullptr && satisfies(proof, tenant->tenancy.proof);
  };
  const auto for_all = [&](const Shares& shares) {
    return std::all_of(shares.begin(), shares.end(), enough_for);
  };
  return for_all(entry.binding.shares) && for_all(entry.binding.held) && for_all(entry.former);
}

bool Ledger::needs_no_proof(ib::Guid guid) const {
  const Port* const port = book_->find_port(guid);
  if (port == nullptr || port->bindings.empty()) return false;
  return std::all_of(port->bindings.begin(), port->bindings.end(),
                     [&](const Entry* entry) { return enough(*entry, Proof::none); }) &&
         std::all_of(port->leaving.begin(), port->leaving.end(), [](const Tenant* tenant) {
           return satisfies(Proof::none, tenant->tenancy.proof);
         });
}

void Ledger::note_entry(Entry& entry, const Seen& seen) {
  fabric::Binding& binding = entry.binding;
  if (!enough(entry, seen.proof)) {
    if (binding.state == State::verified) return;
    set_state(entry, binding.state,
              {Reason::waiting, "a partition of it wants to hear it from the port itself"},
              seen.now);
    return;
  }
  if (binding.state == State::releasing) return finish(entry, seen.now);
  const bool widens = binding.held != binding.shares;
  if (widens || !entry.former.empty()) {
    book_->unindex_shares(entry);
    entry.former.clear();
    ++freed_;
    binding.held = binding.shares;
    book_->index_shares(entry);
    stage(entry);
  }
  if (widens) return set_state(entry, State::requested, {Reason::waiting, ""}, seen.now);
  if (seen.evidence != Evidence::exact) return;
  if (entry.lost) return;
  if (binding.proof != seen.proof || binding.enforcement != seen.enforcement) changed(entry);
  binding.proof = seen.proof;
  binding.enforcement = seen.enforcement;
  set_state(entry, State::verified, {}, seen.now);
}

void Ledger::note_leaving(const Seen& seen) {
  const std::set<Tenant*> leaving = book_->port(seen.guid).leaving;
  for (Tenant* const tenant : leaving) {
    if (!satisfies(seen.proof, tenant->tenancy.proof)) continue;
    has_left(seen.guid, *tenant);
    finish_if_gone(*tenant);
  }
}

// For the caller: refresh(), as the port may be named by nothing any more.
void Ledger::has_left(ib::Guid guid, Tenant& tenant) {
  book_->port(guid).leaving.erase(&tenant);
  tenant.leaving.erase(guid);
  tenant.never_seen.erase(guid);
  stage(tenant);
}

void Ledger::note_met(const std::function<bool(ib::Guid)>& met) {
  if (!readable_) return;
  for (auto& [name, tenant] : book_->tenants)
    std::erase_if(tenant.never_seen, [&](ib::Guid guid) {
      return met(guid) || (!tenant.leaving.contains(guid) && !tenant.told.contains(guid));
    });
}

void Ledger::note_never_there(ib::Guid guid, uint64_t version) {
  const Port* const port = book_->find_port(guid);
  if (!readable_ || port == nullptr || version < port->changed_in) return;
  const std::set<Tenant*> leaving = port->leaving;
  for (Tenant* const tenant : leaving) {
    if (!tenant->never_seen.contains(guid)) continue;
    has_left(guid, *tenant);
    finish_if_gone(*tenant);
  }
  refresh(guid);
}

void Ledger::note_retired(Now now) {
  if (!readable_) return;
  for (auto& [name, tenant] : book_->tenants)
    if (tenant.deleting() && tenant.retired == Steady{}) tenant.retired = now.steady;
}

void Ledger::finish_if_gone(Tenant& tenant) {
  if (tenant.deleting() && tenant.swept && tenant.leaving.empty()) finish(tenant);
}

void Ledger::note_trouble(ib::Guid guid, const Standing& standing, Now now) {
  if (!readable_ || book_->find_port(guid) == nullptr) return;
  Port& port = book_->port(guid);
  const Finding found = finding(standing.reason);
  // Why a table cannot be put right says more than what is missing in it.
  if (found != Finding::nothing || standing.reason == Reason::capacity) port.trouble = standing;
  for (Entry* const entry : port.bindings) {
    const State state = entry->binding.state;
    if (entry->lost || (state == State::verified && found == Finding::nothing)) continue;
    set_state(*entry, behind(state, found), standing, now);
  }
  book_->settle(guid);
}

void Ledger::note_doubt(const Standing& standing, Now now) {
  if (!readable_) return;
  for (auto& [attachment, entry] : book_->bindings) {
    if (entry.binding.state != State::verified) continue;
    set_state(entry, State::written, standing, now);
    book_->settle(entry.binding.guid);
  }
}

void Ledger::note_hindrance(const Standing& standing) {
  if (!readable_) return;
  for (auto& [name, tenant] : book_->tenants) {
    if (standing.reason != Reason::none && tenant.state == TenancyState::provisioning) {
      tenant.state = TenancyState::error;
      tenant.standing = standing;
    } else if (standing.reason == Reason::none && tenant.state == TenancyState::error) {
      tenant.state = tenant.swept ? TenancyState::ready : TenancyState::provisioning;
      tenant.standing = {};
    }
  }
}

}  // namespace ibpod::sm
