#include "lib/fabric/end_port.h"

#include <algorithm>
#include <optional>

namespace ibpod::fabric {
namespace {

bool covers(const PortSpecifier& specifier, const EndPort& port) {
  const std::optional<PortGroup> group = specifier.group();
  if (!group) return specifier.guid() == port.guid;
  switch (*group) {
    case PortGroup::all:
      return true;
    case PortGroup::all_cas:
      return port.node == mad::NodeType::channel_adapter;
    case PortGroup::all_switches:
      return port.node == mad::NodeType::switch_node;
    case PortGroup::all_routers:
      return port.node == mad::NodeType::router;
    case PortGroup::self:
      return port.runs_sm;
  }
  return false;
}

std::optional<Membership> membership_of(const PartitionDefinition& definition,
                                        const EndPort& port) {
  std::optional<Membership> membership;
  if (definition.pkey == kDefaultPKey)
    membership = port.runs_sm ? Membership::full : Membership::limited;
  for (const Member& member : definition.members) {
    if (covers(member.port, port)) membership = member.membership;
  }
  return membership;
}

ib::PKey key(const PartitionDefinition& definition, ib::Membership membership) {
  const unsigned bit = membership == ib::Membership::full ? 0x8000U : 0U;
  return ib::PKey(static_cast<uint16_t>(definition.pkey.value() | bit));
}

}  // namespace

std::vector<ib::PKey> keys_of(const std::vector<PartitionDefinition>& definitions,
                              const EndPort& port) {
  std::vector<ib::PKey> keys;
  for (const PartitionDefinition& definition : definitions) {
    const std::optional<Membership> membership = membership_of(definition, port);
    if (!membership) continue;
    if (membership != Membership::full) keys.push_back(key(definition, ib::Membership::limited));
    if (membership != Membership::limited) keys.push_back(key(definition, ib::Membership::full));
  }
  return keys;
}

bool takes_index0(const PartitionDefinition& definition, const EndPort& port) {
  return definition.index0 && std::any_of(definition.members.begin(), definition.members.end(),
                                          [&](const Member& member) {
                                            return !member.skip_index0 && covers(member.port, port);
                                          });
}

}  // namespace ibpod::fabric
