#include "sm/verify/desired_keys.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

bool names_groups(const fabric::PartitionDefinition& definition) {
  return definition.pkey == fabric::kDefaultPKey ||
         std::any_of(definition.members.begin(), definition.members.end(),
                     [](const fabric::Member& member) { return member.port.group().has_value(); });
}

std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership) {
  const ib::PKey full(static_cast<uint16_t>(pkey.value() | 0x8000));
  if (membership == fabric::Membership::limited) return {pkey};
  if (membership == fabric::Membership::full) return {full};
  return {pkey, full};
}

}  // namespace

std::optional<ib::PKey> DesiredTable::first() const {
  if (index0) return index0;
  const auto found = std::find_if(keys.begin(), keys.end(), [](ib::PKey key) {
    return key.same_partition(fabric::kDefaultPKey);
  });
  return found == keys.end() ? std::nullopt : std::optional(*found);
}

DesiredKeys::DesiredKeys(const std::vector<fabric::PartitionDefinition>& definitions) {
  for (const fabric::PartitionDefinition& definition : definitions) {
    if (names_groups(definition)) {
      of_groups_.push_back(definition);
      continue;
    }
    for (const fabric::Member& member : definition.members) add(definition, member);
  }
}

// The same result as keys_of() and takes_index0() for members by GUID: if two entries name one
// port, the later one sets the membership, and either one can claim index 0.
void DesiredKeys::add(const fabric::PartitionDefinition& definition, const fabric::Member& member) {
  std::vector<Entry>& entries = of_ports_[member.port.guid()];
  bool index0 = definition.index0 && !member.skip_index0;
  while (!entries.empty() && entries.back().key.same_partition(definition.pkey)) {
    index0 = index0 || entries.back().index0;
    entries.pop_back();
  }
  for (const ib::PKey key : keys_of(definition.pkey, member.membership))
    entries.push_back({key, index0});
}

DesiredTable DesiredKeys::of(const fabric::EndPort& port) const {
  DesiredTable desired;
  // For `both`, the limited key comes first and is the one for index 0.
  const auto take = [&](ib::PKey key, bool index0) {
    desired.keys.push_back(key);
    if (index0 && !(desired.index0 && desired.index0->same_partition(key))) desired.index0 = key;
  };
  for (const fabric::PartitionDefinition& definition : of_groups_)
    for (const ib::PKey key : keys_of({definition}, port))
      take(key, takes_index0(definition, port));
  if (const auto found = of_ports_.find(port.guid); found != of_ports_.end())
    for (const Entry& entry : found->second) take(entry.key, entry.index0);
  std::sort(desired.keys.begin(), desired.keys.end());
  desired.keys.erase(std::unique(desired.keys.begin(), desired.keys.end()), desired.keys.end());
  return desired;
}

std::vector<ib::Guid> DesiredKeys::named() const {
  std::vector<ib::Guid> guids;
  for (const auto& [guid, entries] : of_ports_) guids.push_back(guid);
  for (const fabric::PartitionDefinition& definition : of_groups_)
    for (const fabric::Member& member : definition.members)
      if (!member.port.group()) guids.push_back(member.port.guid());
  std::sort(guids.begin(), guids.end());
  guids.erase(std::unique(guids.begin(), guids.end()), guids.end());
  return guids;
}

}  // namespace ibpod::sm::verify
