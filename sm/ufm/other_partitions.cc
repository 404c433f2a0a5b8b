#include "sm/ufm/other_partitions.h"

#include <algorithm>

namespace ibpod::sm::ufm {
namespace {

// Members that are not at index 0 come last (PartitionDefinition::members).
fabric::PartitionDefinition definition_of(const UfmPartition& partition) {
  fabric::PartitionDefinition definition;
  const bool is_valid = ib::check_partition_name(partition.name).ok();
  definition.name = is_valid ? partition.name : partition.pkey.text();
  definition.pkey = partition.pkey;
  definition.ipoib = partition.ip_over_ib.value_or(false);
  for (const UfmMember& member : partition.members) {
    const bool limited = member.membership == ib::Membership::limited;
    const bool index0 = member.index0.value_or(false);
    definition.index0 = definition.index0 || index0;
    definition.members.push_back(
        {member.guid, limited ? fabric::Membership::limited : fabric::Membership::full, !index0});
  }
  if (!definition.index0)
    for (fabric::Member& member : definition.members) member.skip_index0 = false;
  std::stable_partition(definition.members.begin(), definition.members.end(),
                        [](const fabric::Member& member) { return !member.skip_index0; });
  return definition;
}

}  // namespace

std::vector<fabric::PartitionDefinition> other_partitions(
    const std::map<ib::PKey, UfmPartition>& partitions, const pool::PKeyPool& pkeys) {
  std::vector<fabric::PartitionDefinition> others;
  for (const auto& [pkey, partition] : partitions)
    if (pkey != fabric::kDefaultPKey && !pkeys.covers({pkey.partition()}))
      others.push_back(definition_of(partition));
  return others;
}

}  // namespace ibpod::sm::ufm
