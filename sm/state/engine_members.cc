#include "sm/state/engine_members.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ibpod::sm::state {
namespace {

// All members of one port in one partition have the same membership (conflicts.h). It takes index 0
// if any of them is not a child.
PortRecord::EngineMembers desired_members(Records& records, const PortRecord& port) {
  PortRecord::EngineMembers all;
  for (const auto& [record, membership] : port.members)
    all.emplace_back(record, EngineMember{membership, false});
  for (const BindingRecord* const entry : port.bindings) {
    if (entry->binding.state == fabric::BindingState::releasing) continue;
    for (const fabric::PartitionMembership& membership : entry->binding.applied) {
      const auto record = records.partitions.find(membership.partition);
      if (record == records.partitions.end()) continue;
      all.emplace_back(&record->second,
                       EngineMember{membership.membership, is_child(entry->binding)});
    }
  }
  const auto in_order = [](const auto& a, const auto& b) {
    return std::tie(a.first->partition.name, a.second.skip_index0) <
           std::tie(b.first->partition.name, b.second.skip_index0);
  };
  std::stable_sort(all.begin(), all.end(), in_order);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

// The members of the partitions that the port was in, or is in.
void update_partitions(PortRecord::EngineMembers before, const PortRecord::EngineMembers& after,
                       ib::Guid guid) {
  std::erase_if(before, [&](const auto& member) {
    return std::find(after.begin(), after.end(), member) != after.end();
  });
  for (const auto& [record, member] : before) {
    record->engine_members.erase(guid);
    record->rendered.reset();
  }
  for (const auto& [record, engine_member] : after) {
    const auto [member, added] = record->engine_members.try_emplace(guid, engine_member);
    if (added) record->rendered.reset();
  }
}

}  // namespace

bool update_engine_members(Records& records, ib::Guid guid, PortRecord& port) {
  PortRecord::EngineMembers after = desired_members(records, port);
  if (after == port.engine_members) return false;
  update_partitions(port.engine_members, after, guid);
  port.engine_members = std::move(after);
  return true;
}

}  // namespace ibpod::sm::state
