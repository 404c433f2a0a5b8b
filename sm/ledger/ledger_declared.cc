// Partitions that a file declares.
#include "sm/ledger/book.h"
#include "sm/ledger/ledger.h"

namespace ibpod::sm {

using fabric::Tenancy;

// One may stand in another's way that goes, or changes, behind it.
Result<std::vector<NotDeclared>> Ledger::declare(const std::vector<Tenancy>& tenancies, Now now) {
  TRY(usable());
  std::vector<NotDeclared> refused = undeclare(tenancies);
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
      Status done = declare_one(*tenancy, now);
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

Status Ledger::declare_one(const Tenancy& tenancy, Now now) {
  Tenant* tenant = book_->find_tenant(tenancy.name);
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

}  // namespace ibpod::sm
