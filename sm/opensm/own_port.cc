#include "sm/opensm/own_port.h"

#include <algorithm>

namespace ibpod::sm::opensm {

Status check_own_port(const std::vector<fabric::PartitionDefinition>& definitions,
                      const std::optional<ib::Guid>& own) {
  const auto is_own = [&](const fabric::Member& member) {
    if (member.skip_index0) return false;
    const auto group = member.port.group();
    if (!group) return own && member.port.guid() == *own;
    return *group != fabric::PortGroup::all_switches && *group != fabric::PortGroup::all_routers;
  };
  for (const fabric::PartitionDefinition& definition : definitions) {
    if (!definition.index0 || definition.pkey == fabric::kDefaultPKey) continue;
    if (std::any_of(definition.members.begin(), definition.members.end(), is_own))
      return Error(Code::invalid,
                   "partition " + definition.pkey.text() +
                       ": the subnet manager's own port must keep the default key at index 0");
  }
  return ok();
}

}  // namespace ibpod::sm::opensm
