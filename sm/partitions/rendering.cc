#include "sm/partitions/rendering.h"

#include <algorithm>

namespace ibpod::sm::partitions {
namespace {

using fabric::Partition;
using fabric::PartitionDefinition;
using state::BindingRecord;
using state::EngineMember;
using state::PartitionRecord;

// Members that keep their index 0 come last.
void add_members(PartitionDefinition& definition, const std::map<ib::Guid, EngineMember>& members) {
  definition.members.reserve(members.size());
  for (const auto& [guid, member] : members)
    definition.members.push_back(
        {guid, member.membership, definition.index0 && member.skip_index0});
  std::stable_partition(definition.members.begin(), definition.members.end(),
                        [](const fabric::Member& member) { return !member.skip_index0; });
}

// The definition without members.
PartitionDefinition without_members(const Partition& partition, const state::Policy& policy) {
  PartitionDefinition definition;
  definition.name = partition.name;
  definition.pkey = *partition.pkey;
  definition.index0 = partition.index0;
  definition.ipoib = partition.ipoib.value_or(policy.ipoib);
  definition.group = policy.group;
  definition.group.mtu = partition.mtu.value_or(policy.group.mtu);
  definition.group.rate = partition.rate.value_or(policy.group.rate);
  definition.group.sl = partition.sl.value_or(policy.group.sl);
  return definition;
}

}  // namespace

PartitionDefinition render(const PartitionRecord& record, const state::Policy& policy) {
  if (record.rendered) return *record.rendered;
  PartitionDefinition definition = without_members(record.partition, policy);
  add_members(definition, record.engine_members);
  record.rendered = definition;
  return definition;
}

PartitionDefinition render_after(const PartitionRecord* record, const Partition& partition,
                                 const state::Policy& policy) {
  std::map<ib::Guid, EngineMember> members;
  for (const fabric::StaticMember& member : partition.members)
    members.emplace(member.guid, EngineMember{member.membership, false});
  const std::set<const BindingRecord*, state::ByAttachment> none;
  for (const BindingRecord* const entry : record == nullptr ? none : record->bindings) {
    const fabric::Binding& binding = entry->binding;
    if (binding.state == fabric::BindingState::releasing) continue;
    if (const auto membership = state::membership_in(binding.applied, partition.name))
      members.emplace(binding.guid, EngineMember{*membership, state::is_child(binding)});
  }
  PartitionDefinition definition = without_members(partition, policy);
  add_members(definition, members);
  return definition;
}

}  // namespace ibpod::sm::partitions
