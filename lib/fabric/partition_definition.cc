#include "lib/fabric/partition_definition.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

Status check_name(const PartitionDefinition& definition) {
  const std::string& name = definition.name;
  TRY(ib::check_partition_name(name).during("name"));
  if ((name == kDefaultName) != (definition.pkey == kDefaultPKey))
    return Error(Code::invalid,
                 "only the partition Default may have the P_Key 0x7fff, and it must have it");
  return ok();
}

Status check_pkey(ib::PKey pkey) {
  TRY(ib::check_member(pkey));
  if (pkey.membership() == ib::Membership::limited) return ok();
  return Error(Code::invalid, pkey.text() + " has bit 15 set, which is the membership bit: write " +
                                  ib::PKey(pkey.partition()).text());
}

Status check_group(const GroupFlags& group) {
  if (!mtu_of(static_cast<uint64_t>(group.mtu)))
    return Error(Code::invalid, "mtu: expected 1 (256 bytes) to 5 (4096)");
  if (!rate_of(static_cast<uint64_t>(group.rate)))
    return Error(Code::invalid, "rate: expected 2 (2.5 Gb/s) to 22 (600)");
  if (group.sl > kMostSl) return Error(Code::invalid, "sl: expected 0 to 15");
  if ((group.scopes & 1) != 0) return Error(Code::invalid, "scope: expected 1 to 15");
  if (group.flow_label > kMostFlowLabel)
    return Error(Code::invalid, "FlowLabel: expected 0 to 0xfffff");
  return ok();
}

Status check_members(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (!member.port.group()) TRY(ib::check_port_guid(member.port.guid()));
  }
  return ok();
}

Status check_skip_index0(const PartitionDefinition& definition) {
  const std::vector<Member>& members = definition.members;
  const auto keeps = [](const Member& member) { return member.skip_index0; };
  const auto first = std::find_if(members.begin(), members.end(), keeps);
  if (first == members.end()) return ok();
  if (!definition.index0 || definition.pkey == kDefaultPKey)
    return Error(Code::invalid,
                 first->port.text() + " is excluded from index 0, but the partition has no indx0");
  for (const Member& member : members) {
    if (member.port.group())
      return Error(Code::invalid,
                   member.port.text() +
                       " together with ports that are excluded from index 0: use only GUIDs");
  }
  if (std::all_of(first, members.end(), keeps)) return ok();
  return Error(Code::invalid,
               first->port.text() + " is excluded from index 0 and must be among the last members");
}

// A group may contain the subnet manager's port.
Status check_reachable(const PartitionDefinition& definition) {
  if (definition.pkey != kDefaultPKey) return ok();
  bool full = true;  // without any entry
  for (const Member& member : definition.members) {
    if (member.port.group()) full = member.membership != Membership::limited;
  }
  if (full) return ok();
  return Error(Code::invalid,
               "the subnet manager's own port would be limited, so limited ports could not reach "
               "it: add SELF=full as the last entry");
}

}  // namespace

PartitionDefinition default_definition() {
  PartitionDefinition definition;
  definition.name = kDefaultName;
  definition.pkey = kDefaultPKey;
  definition.ipoib = true;
  definition.members = {{PortGroup::all, Membership::limited}, {PortGroup::self, Membership::full}};
  return definition;
}

Status check_fields(const PartitionDefinition& definition) {
  TRY(check_name(definition));
  TRY(check_pkey(definition.pkey));
  TRY(check_group(definition.group));
  for (const MulticastGroup& group : definition.groups) TRY(check_group(group.flags));
  TRY(check_members(definition.members));
  TRY(check_skip_index0(definition));
  return check_reachable(definition);
}

Status check(const PartitionDefinition& definition) {
  return check_fields(definition).during("partition " + definition.pkey.text());
}

}  // namespace ibpod::fabric
