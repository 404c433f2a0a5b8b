// Partitions as the subnet manager is told of them: now, and behind a change that nobody has made.
#include "sm/registry/state.h"
#include "sm/registry/registry.h"

#include <algorithm>

namespace ibpod::sm {

using fabric::Partition;
using fabric::Tenancy;

namespace {

// Who keeps his index 0 comes last.
void add_members(Partition& partition, const std::map<ib::Guid, Told>& members) {
  partition.members.reserve(members.size());
  for (const auto& [guid, told] : members)
    partition.members.push_back({guid, told.membership, partition.index0 && told.keeps_index0});
  std::stable_partition(partition.members.begin(), partition.members.end(),
                        [](const fabric::Member& member) { return !member.keeps_index0; });
}

}  // namespace

// Without its members.
Partition Ledger::told_of(const Tenancy& tenancy) const {
  Partition partition;
  partition.name = tenancy.name;
  partition.pkey = *tenancy.pkey;
  partition.index0 = tenancy.index0;
  partition.ipoib = tenancy.ipoib.value_or(policy_.ipoib);
  partition.group = policy_.group;
  partition.group.mtu = tenancy.mtu.value_or(policy_.group.mtu);
  partition.group.rate = tenancy.rate.value_or(policy_.group.rate);
  partition.group.sl = tenancy.sl.value_or(policy_.group.sl);
  return partition;
}

Partition Ledger::as_told(const Tenant& tenant) const {
  if (tenant.as_told) return *tenant.as_told;
  Partition partition = told_of(tenant.tenancy);
  add_members(partition, tenant.told);
  tenant.as_told = partition;
  return partition;
}

// Who is in it by a binding stays. Null: there is none of that name yet.
Partition Ledger::told_then(const Tenant* tenant, const Tenancy& tenancy) const {
  std::map<ib::Guid, Told> members;
  for (const fabric::StaticMember& member : tenancy.members)
    members.emplace(member.guid, Told{member.membership, false});
  const std::set<const Entry*, ByAttachment> none;
  for (const Entry* const entry : tenant == nullptr ? none : tenant->bindings) {
    const fabric::Binding& binding = entry->binding;
    if (binding.state == fabric::State::releasing) continue;
    if (const auto membership = membership_in(binding.held, tenancy.name))
      members.emplace(binding.guid, Told{*membership, is_child(binding)});
  }
  Partition partition = told_of(tenancy);
  add_members(partition, members);
  return partition;
}

std::vector<Partition> Ledger::partitions_with(const Partition& partition) const {
  std::vector<Partition> all = *partitions();
  const auto place = std::lower_bound(
      all.begin() + 1, all.end(), partition.name,
      [](const Partition& one, const std::string& name) { return one.name < name; });
  if (place != all.end() && place->name == partition.name)
    *place = partition;
  else
    all.insert(place, partition);
  return all;
}

Result<std::vector<Partition>> Ledger::after_create(const Tenancy& tenancy) const {
  TRY(usable());
  const Tenancy made = TRY(to_make(tenancy).during("partition " + tenancy.name));
  return partitions_with(told_then(nullptr, made));
}

Result<std::vector<Partition>> Ledger::after_update(const Tenancy& tenancy) const {
  TRY(usable());
  const Tenant* const tenant = std::as_const(*book_).find_tenant(tenancy.name);
  TRY(check_administered(tenant, tenancy.name));
  const Tenancy changed = TRY(to_become(*tenant, tenancy).during("partition " + tenancy.name));
  return partitions_with(told_then(tenant, changed));
}

Result<std::vector<Partition>> Ledger::after_remove(const std::string& name) const {
  TRY(usable());
  const Tenant* const tenant = std::as_const(*book_).find_tenant(name);
  TRY(check_administered(tenant, name));
  if (!tenant->deleting()) TRY(check_unused(*tenant).during("partition " + name));
  std::vector<Partition> all = *partitions();
  std::erase_if(all, [&](const Partition& one) { return one.name == name; });
  return all;
}

}  // namespace ibpod::sm
