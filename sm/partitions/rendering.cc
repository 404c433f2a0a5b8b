// Partitions as they are given to the subnet manager: at present, and after a planned change.
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {

using fabric::Partition;
using fabric::PartitionDefinition;

namespace {

// Members that keep their index 0 come last.
void add_members(PartitionDefinition& definition, const std::map<ib::Guid, EngineMember>& members) {
  definition.members.reserve(members.size());
  for (const auto& [guid, member] : members)
    definition.members.push_back(
        {guid, member.membership, definition.index0 && member.skip_index0});
  std::stable_partition(definition.members.begin(), definition.members.end(),
                        [](const fabric::Member& member) { return !member.skip_index0; });
}

}  // namespace

// The definition without members.
PartitionDefinition Registry::engine_members(const Partition& partition) const {
  PartitionDefinition definition;
  definition.name = partition.name;
  definition.pkey = *partition.pkey;
  definition.index0 = partition.index0;
  definition.ipoib = partition.ipoib.value_or(policy_.ipoib);
  definition.group = policy_.group;
  definition.group.mtu = partition.mtu.value_or(policy_.group.mtu);
  definition.group.rate = partition.rate.value_or(policy_.group.rate);
  definition.group.sl = partition.sl.value_or(policy_.group.sl);
  return definition;
}

PartitionDefinition Registry::rendered(const PartitionRecord& record) const {
  if (record.rendered) return *record.rendered;
  PartitionDefinition definition = engine_members(record.partition);
  add_members(definition, record.engine_members);
  record.rendered = definition;
  return definition;
}

// Members by bindings stay. `record` null: the partition does not exist yet.
PartitionDefinition Registry::engine_members_after(const PartitionRecord* record,
                                                   const Partition& partition) const {
  std::map<ib::Guid, EngineMember> members;
  for (const fabric::StaticMember& member : partition.members)
    members.emplace(member.guid, EngineMember{member.membership, false});
  const std::set<const BindingRecord*, ByAttachment> none;
  for (const BindingRecord* const entry : record == nullptr ? none : record->bindings) {
    const fabric::Binding& binding = entry->binding;
    if (binding.state == fabric::BindingState::releasing) continue;
    if (const auto membership = membership_in(binding.applied, partition.name))
      members.emplace(binding.guid, EngineMember{*membership, is_child(binding)});
  }
  PartitionDefinition definition = engine_members(partition);
  add_members(definition, members);
  return definition;
}

std::vector<PartitionDefinition> Registry::partitions_with(
    const PartitionDefinition& definition) const {
  std::vector<PartitionDefinition> all = *partitions();
  const auto place = std::lower_bound(
      all.begin() + 1, all.end(), definition.name,
      [](const PartitionDefinition& one, const std::string& name) { return one.name < name; });
  if (place != all.end() && place->name == definition.name)
    *place = definition;
  else
    all.insert(place, definition);
  return all;
}

Result<std::vector<PartitionDefinition>> Registry::after_create(const Partition& partition) const {
  TRY(check_readable());
  const Partition made = TRY(checked_create(partition).during("partition " + partition.name));
  return partitions_with(engine_members_after(nullptr, made));
}

Result<std::vector<PartitionDefinition>> Registry::after_update(const Partition& partition) const {
  TRY(check_readable());
  const PartitionRecord* const record = std::as_const(*state_).find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  const Partition changed =
      TRY(checked_update(*record, partition).during("partition " + partition.name));
  return partitions_with(engine_members_after(record, changed));
}

Result<std::vector<PartitionDefinition>> Registry::after_remove(const std::string& name) const {
  TRY(check_readable());
  const PartitionRecord* const record = std::as_const(*state_).find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(check_unused(*record).during("partition " + name));
  std::vector<PartitionDefinition> all = *partitions();
  std::erase_if(all, [&](const PartitionDefinition& one) { return one.name == name; });
  return all;
}

}  // namespace ibpod::sm::registry
