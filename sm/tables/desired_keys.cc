#include "sm/tables/desired_keys.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

bool speaks_of_groups(const fabric::Partition& partition) {
  return partition.pkey == fabric::kDefaultPKey ||
         std::any_of(partition.members.begin(), partition.members.end(),
                     [](const fabric::Member& member) { return member.port.group().has_value(); });
}

std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership) {
  const ib::PKey full(static_cast<uint16_t>(pkey.value() | 0x8000));
  if (membership == fabric::Membership::limited) return {pkey};
  if (membership == fabric::Membership::full) return {full};
  return {pkey, full};
}

}  // namespace

std::optional<ib::PKey> WantedKeys::first() const {
  if (index0) return index0;
  const auto found = std::find_if(keys.begin(), keys.end(), [](ib::PKey key) {
    return key.same_partition(fabric::kDefaultPKey);
  });
  return found == keys.end() ? std::nullopt : std::optional(*found);
}

Wanted::Wanted(const std::vector<fabric::Partition>& partitions) {
  for (const fabric::Partition& partition : partitions) {
    if (speaks_of_groups(partition)) {
      of_groups_.push_back(partition);
      continue;
    }
    for (const fabric::Member& member : partition.members) add(partition, member);
  }
}

// As keys_of() and takes_index0() have it of a partition whose members are named by GUID: where two
// entries speak of one port the later one has the membership, and either one index 0.
void Wanted::add(const fabric::Partition& partition, const fabric::Member& member) {
  std::vector<Entry>& entries = of_ports_[member.port.guid()];
  bool index0 = partition.index0 && !member.keeps_index0;
  while (!entries.empty() && entries.back().key.same_partition(partition.pkey)) {
    index0 = index0 || entries.back().index0;
    entries.pop_back();
  }
  for (const ib::PKey key : keys_of(partition.pkey, member.membership))
    entries.push_back({key, index0});
}

WantedKeys Wanted::of(const fabric::EndPort& port) const {
  WantedKeys wanted;
  // Of `both` the limited key comes first, and is the one for index 0.
  const auto take = [&](ib::PKey key, bool index0) {
    wanted.keys.push_back(key);
    if (index0 && !(wanted.index0 && wanted.index0->same_partition(key))) wanted.index0 = key;
  };
  for (const fabric::Partition& partition : of_groups_)
    for (const ib::PKey key : keys_of({partition}, port)) take(key, takes_index0(partition, port));
  if (const auto found = of_ports_.find(port.guid); found != of_ports_.end())
    for (const Entry& entry : found->second) take(entry.key, entry.index0);
  std::sort(wanted.keys.begin(), wanted.keys.end());
  wanted.keys.erase(std::unique(wanted.keys.begin(), wanted.keys.end()), wanted.keys.end());
  return wanted;
}

std::vector<ib::Guid> Wanted::named() const {
  std::vector<ib::Guid> guids;
  for (const auto& [guid, entries] : of_ports_) guids.push_back(guid);
  for (const fabric::Partition& partition : of_groups_)
    for (const fabric::Member& member : partition.members)
      if (!member.port.group()) guids.push_back(member.port.guid());
  std::sort(guids.begin(), guids.end());
  guids.erase(std::unique(guids.begin(), guids.end()), guids.end());
  return guids;
}

}  // namespace ibpod::sm
