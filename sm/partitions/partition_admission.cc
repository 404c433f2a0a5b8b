#include "sm/partitions/partition_admission.h"

#include "sm/partitions/index0.h"
#include "sm/state/names.h"

#include <algorithm>

namespace ibpod::sm::partitions {
namespace {

using fabric::Membership;
using fabric::Partition;
using fabric::StaticMember;
using state::BindingRecord;
using state::PartitionRecord;
using state::PortRecord;
using state::Records;

Error taken(const PartitionRecord& record, const std::string& what) {
  if (record.deleting())
    return {Code::busy,
            what + " is still in use: partition " + record.partition.name + " is being deleted"};
  return {Code::exists, what + " is already used by partition " + record.partition.name};
}

// A static member and the bindings of its port must have the same membership, and at most one
// partition of the port takes index 0.
Status check_member(const Records& records, const Partition& partition,
                    const StaticMember& member) {
  const std::string where = "members: " + member.guid.text();
  const PortRecord* const port = records.find_port(member.guid);
  if (port == nullptr) return ok();
  for (const BindingRecord* const entry : port->bindings) {
    for (const fabric::PartitionMembership& membership : all_memberships(*entry)) {
      if (membership.partition != partition.name || membership.membership == member.membership)
        continue;
      return Error(Code::busy, where + ": the binding of " + text(entry->binding.attachment) +
                                   " already has membership " +
                                   std::string(name(membership.membership)));
    }
  }
  if (partition.index0)
    TRY(check_index0_is_free(records, member.guid, partition.name).during(where));
  return ok();
}

Status check_group(const Partition& partition, const state::Policy::Unsupported& unsupported) {
  const auto refuse = [](const std::string& value, const std::string& why) {
    return Error(Code::invalid, value + ", and " + why);
  };
  if (partition.sl.value_or(0) != 0 && !unsupported.sl.empty())
    return refuse("sl: " + std::to_string(*partition.sl), unsupported.sl);
  if (unsupported.group.empty()) return ok();
  if (partition.mtu)
    return refuse("mtu: " + std::to_string(128 << static_cast<int>(*partition.mtu)),
                  unsupported.group);
  if (partition.rate) return refuse("rate: " + gbps(*partition.rate), unsupported.group);
  return ok();
}

// A partition that is there keeps clusters that are no longer configured, until it is changed.
Status check_clusters(const Partition& partition, const fabric::ClusterNames& clusters) {
  for (const std::string& one : partition.allowed)
    TRY(fabric::check_cluster(clusters, one).during("allowed"));
  for (const std::string& one : partition.nodes)
    TRY(fabric::check_cluster(clusters, one).during("nodes"));
  return ok();
}

}  // namespace

Status PartitionAdmission::check_partition(const Partition& partition) const {
  TRY(fabric::check(partition));
  TRY(check_clusters(partition, policy().clusters));
  if (partition.members.size() > policy().limits.members)
    return Error(Code::invalid, "members: " + std::to_string(partition.members.size()) +
                                    ", expected at most " +
                                    std::to_string(policy().limits.members));
  const bool both =
      partition.membership == Membership::both ||
      std::any_of(partition.members.begin(), partition.members.end(),
                  [](const StaticMember& m) { return m.membership == Membership::both; });
  const state::Policy::Unsupported& unsupported = policy().unsupported;
  if (both && !unsupported.both.empty())
    return Error(Code::invalid,
                 "membership \"both\" " + unsupported.both + "; use limited or full");
  TRY(check_group(partition, unsupported));
  for (const StaticMember& member : partition.members)
    TRY(check_member(records(), partition, member));
  return ok();
}

Result<ib::PKey> PartitionAdmission::pkey_for(const Partition& partition) const {
  if (partition.pkey) {
    const auto used = records().by_pkey.find(partition.pkey->partition());
    if (used != records().by_pkey.end())
      return taken(*used->second, "P_Key " + partition.pkey->text());
    TRY(policy().pkeys.allows(*partition.pkey));
    if (reserved_pkeys_.contains(partition.pkey->partition()))
      return Error(Code::exists, "P_Key " + partition.pkey->text() +
                                     " is already used by the administrator's section of "
                                     "partitions.conf");
    return *partition.pkey;
  }
  pool::PKeyPool::Partitions used = reserved_pkeys_;
  for (const auto& [pkey, record] : records().by_pkey) used.insert(pkey);
  return policy().pkeys.next(used, records().last_pkey);
}

// Returns the partition with its P_Key.
Result<Partition> PartitionAdmission::admit_new(const Partition& desired) const {
  if (const PartitionRecord* const record = records().find_partition(desired.name))
    return taken(*record, "the name");
  if (records().partitions.size() >= policy().limits.partitions)
    return Error(Code::busy,
                 "partition limit reached (" + std::to_string(policy().limits.partitions) + ")");
  TRY(check_partition(desired));
  Partition partition = desired;
  partition.pkey = TRY(pkey_for(desired));
  return partition;
}

Result<Partition> PartitionAdmission::admit_change(const PartitionRecord& record,
                                                   const Partition& desired) const {
  if (record.deleting()) return Error(Code::busy, "it is being deleted");
  const ib::PKey pkey = *record.partition.pkey;
  if (desired.pkey && !desired.pkey->same_partition(pkey))
    return Error(Code::invalid, "pkey: cannot be changed (it is " + pkey.text() + ")");
  TRY(check_partition(desired));
  if (desired.index0 && !record.partition.index0) TRY(check_index0_of_bindings(records(), record));
  Partition partition = desired;
  partition.pkey = pkey;
  return partition;
}

Status check_unused(const PartitionRecord& record) {
  if (record.bindings.empty()) return ok();
  const size_t count = record.bindings.size();
  return Error(Code::busy, std::to_string(count) +
                               (count == 1 ? " binding still uses it" : " bindings still use it") +
                               "; list them with `ibpodctl binding list --partition " +
                               record.partition.name + "`");
}

Status check_administered(const PartitionRecord* record, const std::string& name) {
  if (record == nullptr)
    return Error(Code::not_found, "there is no partition " + name.substr(0, fabric::kMostName));
  if (!record->declared) return ok();
  return Error(Code::denied, "partition " + name + " is declared in a file; change it there");
}

}  // namespace ibpod::sm::partitions
