// Partitions that a file declares.
#include "sm/registry/state.h"
#include "sm/registry/registry.h"

namespace ibpod::sm {

using fabric::Tenancy;

namespace {

// Whether it is as it is wanted; its P_Key may have come from the pool.
bool is_as(const Tenancy& present, Tenancy wanted) {
  if (!wanted.pkey) wanted.pkey = present.pkey;
  return present == wanted;
}

}  // namespace

// One may stand in another's way that goes, or changes, behind it.
Result<std::vector<NotDeclared>> Ledger::declare(const std::vector<Tenancy>& tenancies, Now now,
                                                 const Declaring& how) {
  TRY(usable());
  std::vector<NotDeclared> refused;
  if (how.complete) refused = undeclare(tenancies);
  std::set<std::string> names;
  std::vector<const Tenancy*> left;
  for (const Tenancy& tenancy : tenancies) {
    if (names.insert(tenancy.name).second)
      left.push_back(&tenancy);
    else
      refused.push_back({tenancy.name, Error(Code::invalid, "it is declared twice")});
  }
  std::vector<NotDeclared> tried;
  for (bool progress = true; progress && !left.empty();) {
    tried.clear();
    std::vector<const Tenancy*> again;
    for (const Tenancy* const tenancy : left) {
      Status done = declare_one(*tenancy, how, now);
      if (done) continue;
      again.push_back(tenancy);
      tried.push_back({tenancy->name, std::move(done).error()});
    }
    progress = again.size() < left.size();
    left = std::move(again);
  }
  if (!left.empty()) refused.insert(refused.end(), tried.begin(), tried.end());
  return refused;
}

// What is as declared already is not judged again: it may be refused now for what others have done.
Status Ledger::declare_one(const Tenancy& tenancy, const Declaring& how, Now now) {
  Tenant* tenant = book_->find_tenant(tenancy.name);
  if (tenant != nullptr && tenant->declared && is_as(tenant->tenancy, tenancy)) return ok();
  TRY(check_possible(tenant, tenancy, how));
  if (tenant != nullptr) {
    TRY(change(*tenant, tenancy, now));
  } else {
    tenant = TRY(make(tenancy));
  }
  if (tenant->declared) return ok();
  tenant->declared = true;
  stage(*tenant);
  return ok();
}

Status Ledger::check_possible(const Tenant* tenant, const Tenancy& wanted,
                              const Declaring& how) const {
  if (!how.possible) return ok();
  const Tenancy then = TRY(tenant == nullptr ? to_make(wanted) : to_become(*tenant, wanted));
  const fabric::Partition told = told_then(tenant, then);
  if (tenant != nullptr && told == as_told(*tenant)) return ok();
  return how.possible(partitions_with(told));
}

// Those that are declared no more.
std::vector<NotDeclared> Ledger::undeclare(const std::vector<Tenancy>& tenancies) {
  std::set<std::string> names;
  for (const Tenancy& tenancy : tenancies) names.insert(tenancy.name);
  std::vector<NotDeclared> refused;
  for (auto& [name, tenant] : book_->tenants) {
    if (!tenant.declared || names.contains(name)) continue;
    Status done = retire(tenant);
    if (!done) refused.push_back({name, std::move(done).error()});
  }
  return refused;
}

Result<std::vector<std::string>> Ledger::hand_over_declared() {
  TRY(usable());
  std::vector<std::string> names;
  for (auto& [name, tenant] : book_->tenants) {
    if (!tenant.declared) continue;
    tenant.declared = false;
    stage(tenant);
    names.push_back(name);
  }
  return names;
}

}  // namespace ibpod::sm
