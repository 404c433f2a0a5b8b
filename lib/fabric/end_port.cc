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
      return port.node == NodeType::channel_adapter;
    case PortGroup::all_switches:
      return port.node == NodeType::switch_node;
    case PortGroup::all_routers:
      return port.node == NodeType::router;
    case PortGroup::self:
      return port.runs_sm;
  }
  return false;
}

std::optional<Membership> membership_of(const Partition& partition, const EndPort& port) {
  std::optional<Membership> membership;
  if (partition.pkey == kDefaultPKey)
    membership = port.runs_sm ? Membership::full : Membership::limited;
  for (const Member& member : partition.members) {
    if (covers(member.port, port)) membership = member.membership;
  }
  return membership;
}

ib::PKey key(const Partition& partition, ib::Membership membership) {
  const unsigned bit = membership == ib::Membership::full ? 0x8000U : 0U;
  return ib::PKey(static_cast<uint16_t>(partition.pkey.value() | bit));
}

}  // namespace

std::vector<ib::PKey> keys_of(const std::vector<Partition>& partitions, const EndPort& port) {
  std::vector<ib::PKey> keys;
  for (const Partition& partition : partitions) {
    const std::optional<Membership> membership = membership_of(partition, port);
    if (!membership) continue;
    if (membership != Membership::full) keys.push_back(key(partition, ib::Membership::limited));
    if (membership != Membership::limited) keys.push_back(key(partition, ib::Membership::full));
  }
  return keys;
}

bool takes_index0(const Partition& partition, const EndPort& port) {
  return partition.index0 &&
         std::any_of(partition.members.begin(), partition.members.end(), [&](const Member& member) {
           return !member.keeps_index0 && covers(member.port, port);
         });
}

}  // namespace ibpod::fabric
