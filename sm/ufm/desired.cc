#include "sm/ufm/desired.h"

namespace ibpod::sm::ufm {
namespace {

Status add_member(const fabric::PartitionDefinition& definition, const fabric::Member& member,
                  DesiredPartition& desired) {
  if (member.port.group())
    return Error(Code::invalid, "member " + member.port.text() +
                                    ": UFM has no groups of ports; name each port by its GUID");
  if (member.membership == fabric::Membership::both)
    return Error(Code::invalid,
                 "member " + member.port.text() +
                     ": expected full or limited, got both, which UFM does not have");
  MemberValues& values = desired.members[member.port.guid()];
  values.membership = member.membership == fabric::Membership::full ? ib::Membership::full
                                                                    : ib::Membership::limited;
  values.index0 = values.index0 || (definition.index0 && !member.skip_index0);
  return ok();
}

Status add(const fabric::PartitionDefinition& definition, const pool::PKeyPool& pkeys,
           DesiredPartitions& all) {
  TRY(pkeys.covers({definition.pkey.partition()}));
  const auto [entry, is_new] = all.try_emplace(definition.pkey);
  if (!is_new) return Error(Code::invalid, "another partition has the same P_Key");
  entry->second.ip_over_ib = definition.ipoib;
  for (const fabric::Member& member : definition.members)
    TRY(add_member(definition, member, entry->second));
  return ok();
}

}  // namespace

Result<DesiredPartitions> desired_of(const std::vector<fabric::PartitionDefinition>& definitions,
                                     const pool::PKeyPool& pkeys) {
  DesiredPartitions all;
  for (const fabric::PartitionDefinition& definition : definitions) {
    TRY(fabric::check(definition));
    if (definition.pkey == fabric::kDefaultPKey) continue;
    TRY(add(definition, pkeys, all).during("partition " + definition.pkey.text()));
  }
  return all;
}

const MemberValues* find_member(const DesiredPartition* partition, ib::Guid guid) {
  if (partition == nullptr) return nullptr;
  const auto found = partition->members.find(guid);
  return found == partition->members.end() ? nullptr : &found->second;
}

}  // namespace ibpod::sm::ufm
