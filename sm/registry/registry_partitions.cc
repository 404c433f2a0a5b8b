// Partitions, as administrators have them.
#include "sm/registry/state.h"
#include "sm/registry/conflicts.h"
#include "sm/registry/registry.h"
#include "sm/registry/names.h"
#include "sm/registry/authz.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Membership;
using fabric::Reason;
using fabric::State;
using fabric::StaticMember;
using fabric::Tenancy;
using fabric::TenancyState;
using fabric::TenancyStatus;
using fabricapi::Caller;

constexpr size_t kMostListed = 5;

Error taken(const Tenant& tenant, const std::string& what) {
  if (tenant.deleting())
    return {Code::busy,
            what + " is still in use: partition " + tenant.tenancy.name + " is being deleted"};
  return {Code::exists, what + " is that of partition " + tenant.tenancy.name};
}

bool has(const std::vector<StaticMember>& members, ib::Guid guid) {
  return std::any_of(members.begin(), members.end(),
                     [&](const StaticMember& member) { return member.guid == guid; });
}

std::string list(const std::set<ib::Guid>& guids) {
  std::string text;
  size_t listed = 0;
  for (const ib::Guid guid : guids) {
    if (listed == kMostListed)
      return text + " and " + std::to_string(guids.size() - listed) + " more";
    text += (listed++ == 0 ? "" : ", ") + guid.text();
  }
  return text;
}

fabric::Standing waiting_to_go(const Tenant& tenant) {
  if (!tenant.swept) return {Reason::waiting, "the subnet manager has not swept without it yet"};
  if (tenant.leaving.empty()) return {};
  return {Reason::waiting,
          "ports that may hold its key have not been seen without it: " + list(tenant.leaving)};
}

Status check_index0_is_free(const Book& book, ib::Guid guid, const std::string& partition) {
  for (const std::string& other : index0_of(book, guid, nullptr))
    if (other != partition)
      return Error(Code::busy, "partition " + other + " has index 0 of the table of port " +
                                   guid.text() + " already");
  return ok();
}

// A static member and a binding of the same port agree, and index 0 goes to one.
Status check_member(const Book& book, const Tenancy& tenancy, const StaticMember& member) {
  const std::string where = "members: " + member.guid.text();
  const Port* const port = book.find_port(member.guid);
  if (port == nullptr) return ok();
  for (const Entry* const entry : port->bindings) {
    for (const fabric::Share& share : all_shares(*entry)) {
      if (share.partition != tenancy.name || share.membership == member.membership) continue;
      return Error(Code::busy, where + ": it is " + std::string(name(share.membership)) +
                                   " there by the binding of " + text(entry->binding.attachment));
    }
  }
  if (tenancy.index0) TRY(check_index0_is_free(book, member.guid, tenancy.name).during(where));
  return ok();
}

}  // namespace

Status Ledger::check_tenancy(const Tenancy& tenancy) const {
  TRY(fabric::check(tenancy));
  if (tenancy.members.size() > policy_.limits.members)
    return Error(Code::invalid, "members: " + std::to_string(tenancy.members.size()) +
                                    ", expected at most " + std::to_string(policy_.limits.members));
  const bool both =
      tenancy.membership == Membership::both ||
      std::any_of(tenancy.members.begin(), tenancy.members.end(),
                  [](const StaticMember& m) { return m.membership == Membership::both; });
  if (both && !policy_.both_allowed)
    return Error(Code::invalid, "membership both is not to be had here: limited or full");
  if (tenancy.sl.value_or(0) != 0 && !policy_.sl_allowed)
    return Error(Code::invalid, "sl: " + std::to_string(*tenancy.sl) +
                                    ", and OpenSM makes every service level 0 without qos: set "
                                    "opensm.qos to true in ibpod-sm's configuration, or leave sl "
                                    "out");
  for (const StaticMember& member : tenancy.members) TRY(check_member(*book_, tenancy, member));
  return ok();
}

Result<ib::PKey> Ledger::pkey_for(const Tenancy& tenancy) const {
  if (tenancy.pkey) {
    const auto used = book_->by_pkey.find(tenancy.pkey->partition());
    if (used != book_->by_pkey.end()) return taken(*used->second, "P_Key " + tenancy.pkey->text());
    TRY(policy_.pkeys.allows(*tenancy.pkey));
    if (others_pkeys_.contains(tenancy.pkey->partition()))
      return Error(Code::exists, "P_Key " + tenancy.pkey->text() +
                                     ": the administrator's section "
                                     "of partitions.conf has it");
    return *tenancy.pkey;
  }
  PKeyPool::Partitions used = others_pkeys_;
  for (const auto& [pkey, tenant] : book_->by_pkey) used.insert(pkey);
  return policy_.pkeys.next(used, book_->last_pkey);
}

// With the P_Key that it is given.
Result<Tenancy> Ledger::to_make(const Tenancy& wanted) const {
  if (const Tenant* const tenant = book_->find_tenant(wanted.name))
    return taken(*tenant, "the name");
  if (book_->tenants.size() >= policy_.limits.partitions)
    return Error(Code::busy, "there are as many partitions as there may be");
  TRY(check_tenancy(wanted));
  Tenancy tenancy = wanted;
  tenancy.pkey = TRY(pkey_for(wanted));
  return tenancy;
}

Result<Tenant*> Ledger::make(const Tenancy& wanted) {
  Tenancy tenancy = TRY(to_make(wanted));
  if (!wanted.pkey) {
    book_->last_pkey = tenancy.pkey->partition();
    stage(Kind::range, "pkeys");
  }
  Tenant& tenant = book_->add(std::move(tenancy));
  tenant.version = ++version_;
  tenant.standing = {Reason::waiting, ""};
  refresh_members(tenant, {});
  stage(tenant);
  return &tenant;
}

Result<TenancyStatus> Ledger::create(const Caller& caller, const Tenancy& tenancy) {
  TRY(usable());
  TRY(may_administer(caller));
  const Tenant* const made = TRY(make(tenancy).during("partition " + tenancy.name));
  return status(*made);
}

Result<TenancyStatus> Ledger::update(const Caller& caller, const Tenancy& tenancy, Now now) {
  TRY(usable());
  TRY(may_administer(caller));
  Tenant* const tenant = book_->find_tenant(tenancy.name);
  TRY(check_administered(tenant, tenancy.name));
  TRY(change(*tenant, tenancy, now).during("partition " + tenancy.name));
  return status(*tenant);
}

Result<TenancyStatus> Ledger::remove(const Caller& caller, const std::string& name) {
  TRY(usable());
  TRY(may_administer(caller));
  Tenant* const tenant = book_->find_tenant(name);
  TRY(check_administered(tenant, name));
  if (!tenant->deleting()) TRY(retire(*tenant).during("partition " + name));
  return status(*tenant);
}

Result<TenancyStatus> Ledger::forget_ports(const Caller& caller, const std::string& name,
                                           const Holds& holds) {
  TRY(remove(caller, name));
  Tenant& tenant = book_->tenants.at(name);
  const std::set<ib::Guid> leaving = tenant.leaving;
  for (const ib::Guid guid : leaving)
    if (!holds(guid, *tenant.tenancy.pkey)) {
      has_left(guid, tenant);
      refresh(guid);
    }
  TenancyStatus left = status(tenant);
  finish_if_gone(tenant);
  // As `partition list` would: nothing is waited for any more.
  if (book_->find_tenant(name) == nullptr) left.standing = {};
  return left;
}

Status Ledger::check_administered(const Tenant* tenant, const std::string& name) const {
  if (tenant == nullptr)
    return Error(Code::not_found, "there is no partition " + name.substr(0, fabric::kMostName));
  if (!tenant->declared) return ok();
  return Error(Code::denied,
               "partition " + name + " is declared in a file, and changed only there");
}

Result<Tenancy> Ledger::to_become(const Tenant& tenant, const Tenancy& wanted) const {
  if (tenant.deleting()) return Error(Code::busy, "it is being deleted");
  const ib::PKey pkey = *tenant.tenancy.pkey;
  if (wanted.pkey && !wanted.pkey->same_partition(pkey))
    return Error(Code::invalid, "pkey: it is " + pkey.text() + " for ever");
  TRY(check_tenancy(wanted));
  if (wanted.index0 && !tenant.tenancy.index0) TRY(check_index0_of_bindings(tenant));
  Tenancy tenancy = wanted;
  tenancy.pkey = pkey;
  return tenancy;
}

Status Ledger::change(Tenant& tenant, const Tenancy& wanted, Now now) {
  Tenancy changed = TRY(to_become(tenant, wanted));
  if (changed == tenant.tenancy) return ok();
  ++freed_;
  const bool moves = changed.index0 != tenant.tenancy.index0;
  const fabric::Partition before = as_told(tenant);
  std::vector<StaticMember> members = std::exchange(changed.members, tenant.tenancy.members);
  const std::vector<StaticMember> former = tenant.tenancy.members;
  tenant.tenancy = std::move(changed);
  book_->set_members(tenant, std::move(members));
  refresh_members(tenant, former);
  tenant.as_told.reset();
  if (as_told(tenant) != before) tenant_changed(tenant);
  if (moves) touch_members(tenant);
  demand_proof(tenant, now);
  stage(tenant);
  return ok();
}

void Ledger::tenant_changed(Tenant& tenant) {
  tenant.version = ++version_;
  tenant.swept = false;
  tenant.as_told.reset();
  if (tenant.state == TenancyState::ready) {
    tenant.state = TenancyState::provisioning;
    tenant.standing = {Reason::waiting, ""};
  }
}

Status Ledger::check_index0_of_bindings(const Tenant& tenant) const {
  for (const Entry* const entry : tenant.bindings)
    if (!is_child(entry->binding))
      TRY(check_index0_is_free(*book_, entry->binding.guid, tenant.tenancy.name));
  return ok();
}

// Their keys stay, and change places.
void Ledger::touch_members(const Tenant& tenant) {
  for (const auto& [guid, told] : tenant.told) book_->port(guid).changed_in = version_;
}

void Ledger::refresh_members(Tenant& tenant, const std::vector<StaticMember>& former) {
  for (const StaticMember& member : former) {
    if (has(tenant.tenancy.members, member.guid)) continue;
    tenant.leaving.insert(member.guid);
    book_->port(member.guid).leaving.insert(&tenant);
    refresh(member.guid);
  }
  for (const StaticMember& member : tenant.tenancy.members) {
    if (!has(former, member.guid) && !tenant.leaving.contains(member.guid))
      tenant.never_seen.insert(member.guid);
    tenant.leaving.erase(member.guid);
    book_->port(member.guid).leaving.erase(&tenant);
    refresh(member.guid);
  }
}

void Ledger::demand_proof(Tenant& tenant, Now now) {
  for (const Entry* const known : tenant.bindings) {
    if (known->binding.state != State::verified ||
        satisfies(known->binding.proof, tenant.tenancy.proof))
      continue;
    Entry& entry = book_->bindings.at(known->binding.attachment);
    set_state(entry, State::written, {Reason::waiting, ""}, now);
    book_->settle(entry.binding.guid);
  }
}

Status Ledger::check_unused(const Tenant& tenant) {
  if (tenant.bindings.empty()) return ok();
  const size_t count = tenant.bindings.size();
  return Error(Code::busy,
               std::to_string(count) +
                   (count == 1 ? " binding is in it, or was and is not released yet"
                               : " bindings are in it, or were and are not released yet") +
                   " (`ibpodctl binding list --partition " + tenant.tenancy.name + "`)");
}

Status Ledger::retire(Tenant& tenant) {
  TRY(check_unused(tenant));
  ++freed_;
  tenant.state = TenancyState::deleting;
  tenant.declared = false;
  const std::vector<StaticMember> former = tenant.tenancy.members;
  book_->set_members(tenant, {});
  refresh_members(tenant, former);
  tenant_changed(tenant);
  stage(tenant);
  return ok();
}

void Ledger::finish(Tenant& tenant) {
  ++freed_;
  stage(tenant);
  book_->remove(tenant);
}

// No binding tells of static members. The first that is not as it should be is named.
fabric::Standing Ledger::trouble_of_members(const Tenant& tenant) const {
  fabric::Standing first;
  size_t more = 0;
  for (const StaticMember& member : tenant.tenancy.members) {
    const Port* const port = book_->find_port(member.guid);
    if (port == nullptr || port->trouble.reason == Reason::none) continue;
    if (first.reason != Reason::none)
      ++more;
    else
      first = {port->trouble.reason, "member " + member.guid.text() + ": " + port->trouble.text};
  }
  if (more > 0) first.text += " (and " + std::to_string(more) + " more)";
  return first;
}

TenancyStatus Ledger::status(const Tenant& tenant) const {
  TenancyStatus status{tenant.tenancy, tenant.declared, tenant.state, tenant.standing,
                       tenant.bindings.size()};
  if (tenant.deleting()) status.standing = waiting_to_go(tenant);
  if (tenant.state == TenancyState::ready) status.standing = trouble_of_members(tenant);
  return status;
}

}  // namespace ibpod::sm
