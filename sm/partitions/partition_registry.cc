#include "sm/partitions/partition_registry.h"

#include "sm/partitions/former_members.h"
#include "sm/partitions/index0.h"
#include "sm/partitions/rendering.h"
#include "sm/state/names.h"

#include <algorithm>

namespace ibpod::sm::partitions {
namespace {

using fabric::BindingState;
using fabric::Membership;
using fabric::Partition;
using fabric::PartitionState;
using fabric::PartitionStatus;
using fabric::Reason;
using fabric::StaticMember;
using state::BindingRecord;
using state::Now;
using state::PartitionRecord;
using state::PortRecord;
using state::Records;

Error taken(const PartitionRecord& record, const std::string& what) {
  if (record.deleting())
    return {Code::busy,
            what + " is still in use: partition " + record.partition.name + " is being deleted"};
  return {Code::exists, what + " is already used by partition " + record.partition.name};
}

bool has(const std::vector<StaticMember>& members, ib::Guid guid) {
  return std::any_of(members.begin(), members.end(),
                     [&](const StaticMember& member) { return member.guid == guid; });
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

}  // namespace

Status PartitionRegistry::check_partition(const Partition& partition) const {
  TRY(fabric::check(partition));
  if (partition.members.size() > policy().limits.members)
    return Error(Code::invalid, "members: " + std::to_string(partition.members.size()) +
                                    ", expected at most " +
                                    std::to_string(policy().limits.members));
  const bool both =
      partition.membership == Membership::both ||
      std::any_of(partition.members.begin(), partition.members.end(),
                  [](const StaticMember& m) { return m.membership == Membership::both; });
  if (both && !policy().both_allowed)
    return Error(Code::invalid,
                 "membership \"both\" needs opensm.allowBothPkeys; use limited or full");
  if (partition.sl.value_or(0) != 0 && !policy().sl_allowed)
    return Error(Code::invalid, "sl: " + std::to_string(*partition.sl) +
                                    ", and OpenSM makes every service level 0 without qos: set "
                                    "opensm.qos to true in ibpod-sm's configuration, or leave sl "
                                    "out");
  for (const StaticMember& member : partition.members)
    TRY(check_member(records(), partition, member));
  return ok();
}

Result<ib::PKey> PartitionRegistry::pkey_for(const Partition& partition) const {
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
Result<Partition> PartitionRegistry::checked_create(const Partition& desired) const {
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

Result<PartitionRecord*> PartitionRegistry::do_create(const Partition& desired) {
  Partition partition = TRY(checked_create(desired));
  if (!desired.pkey) {
    journal_.state().set_last_pkey(partition.pkey->partition());
    journal_.staged().add(state::RecordKind::range, "pkeys");
  }
  PartitionRecord& record = journal_.state().add(std::move(partition));
  record.version = journal_.next_version();
  record.condition = {Reason::waiting, ""};
  refresh_members(record, {});
  journal_.staged().add(record);
  return &record;
}

Result<PartitionStatus> PartitionRegistry::create(const Partition& partition) {
  TRY(journal_.check_readable());
  const PartitionRecord* const made =
      TRY(do_create(partition).during("partition " + partition.name));
  return status(*made);
}

Result<PartitionStatus> PartitionRegistry::update(const Partition& partition, Now now) {
  TRY(journal_.check_readable());
  PartitionRecord* const record = journal_.state().find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  TRY(do_update(*record, partition, now).during("partition " + partition.name));
  return status(*record);
}

Result<PartitionStatus> PartitionRegistry::remove(const std::string& name) {
  TRY(journal_.check_readable());
  PartitionRecord* const record = journal_.state().find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(begin_delete(*record).during("partition " + name));
  return status(*record);
}

Result<PartitionStatus> PartitionRegistry::forget_ports(const std::string& name,
                                                        const HoldsKey& holds) {
  TRY(remove(name));
  PartitionRecord& record = *journal_.state().find_partition(name);
  const std::set<ib::Guid> leaving = record.former_members;
  for (const ib::Guid guid : leaving)
    if (!holds(guid, *record.partition.pkey)) {
      note_left(journal_, record, guid);
      journal_.refresh(guid);
    }
  PartitionStatus left = status(record);
  remove_if_left(journal_, record);
  // As `partition list` shows it: the deletion waits for nothing more.
  if (records().find_partition(name) == nullptr) left.condition = {};
  return left;
}

Result<Partition> PartitionRegistry::checked_update(const PartitionRecord& record,
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

Status PartitionRegistry::do_update(PartitionRecord& record, const Partition& desired, Now now) {
  Partition changed = TRY(checked_update(record, desired));
  if (changed == record.partition) return ok();
  journal_.staged().note_conflict_freed();
  const bool moves = changed.index0 != record.partition.index0;
  const fabric::PartitionDefinition before = render(record, policy());
  std::vector<StaticMember> members = std::exchange(changed.members, record.partition.members);
  const std::vector<StaticMember> former = record.partition.members;
  record.partition = std::move(changed);
  journal_.state().set_members(record, std::move(members));
  refresh_members(record, former);
  record.rendered.reset();
  if (render(record, policy()) != before) partition_changed(record);
  if (moves) touch_members(record);
  require_proof(record, now);
  journal_.staged().add(record);
  return ok();
}

void PartitionRegistry::partition_changed(PartitionRecord& record) {
  record.version = journal_.next_version();
  record.swept = false;
  record.rendered.reset();
  if (record.state == PartitionState::ready) {
    record.state = PartitionState::provisioning;
    record.condition = {Reason::waiting, ""};
  }
}

// The port keeps the key, but at another index.
void PartitionRegistry::touch_members(const PartitionRecord& record) {
  for (const auto& [guid, member] : record.engine_members)
    journal_.state().port(guid).changed_in = journal_.version();
}

void PartitionRegistry::refresh_members(PartitionRecord& record,
                                        const std::vector<StaticMember>& former) {
  for (const StaticMember& member : former) {
    if (has(record.partition.members, member.guid)) continue;
    journal_.state().set_former_member(record, member.guid, true);
    journal_.refresh(member.guid);
  }
  for (const StaticMember& member : record.partition.members) {
    if (!has(former, member.guid) && !record.former_members.contains(member.guid))
      record.never_seen.insert(member.guid);
    journal_.state().set_former_member(record, member.guid, false);
    journal_.refresh(member.guid);
  }
}

void PartitionRegistry::require_proof(PartitionRecord& record, Now now) {
  for (const BindingRecord* const known : record.bindings) {
    if (known->binding.state != BindingState::verified ||
        satisfies(known->binding.proof, record.partition.proof))
      continue;
    BindingRecord& entry = *journal_.state().find_binding(known->binding.attachment);
    journal_.set_status(entry, BindingState::written, {Reason::waiting, ""}, now);
    journal_.state().update_unsettled(entry.binding.guid);
  }
}

Status PartitionRegistry::begin_delete(PartitionRecord& record) {
  TRY(check_unused(record));
  journal_.staged().note_conflict_freed();
  record.state = PartitionState::deleting;
  record.declared = false;
  const std::vector<StaticMember> former = record.partition.members;
  journal_.state().set_members(record, {});
  refresh_members(record, former);
  partition_changed(record);
  journal_.staged().add(record);
  return ok();
}

Definitions PartitionRegistry::definitions_with(
    const fabric::PartitionDefinition& definition) const {
  Definitions all = *definitions();
  const auto place = std::lower_bound(all.begin() + 1, all.end(), definition.name,
                                      [](const fabric::PartitionDefinition& one,
                                         const std::string& name) { return one.name < name; });
  if (place != all.end() && place->name == definition.name)
    *place = definition;
  else
    all.insert(place, definition);
  return all;
}

Result<Definitions> PartitionRegistry::after_create(const Partition& partition) const {
  TRY(journal_.check_readable());
  const Partition made = TRY(checked_create(partition).during("partition " + partition.name));
  return definitions_with(render_after(nullptr, made, policy()));
}

Result<Definitions> PartitionRegistry::after_update(const Partition& partition) const {
  TRY(journal_.check_readable());
  const PartitionRecord* const record = records().find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  const Partition changed =
      TRY(checked_update(*record, partition).during("partition " + partition.name));
  return definitions_with(render_after(record, changed, policy()));
}

Result<Definitions> PartitionRegistry::after_remove(const std::string& name) const {
  TRY(journal_.check_readable());
  const PartitionRecord* const record = records().find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(check_unused(*record).during("partition " + name));
  Definitions all = *definitions();
  std::erase_if(all, [&](const fabric::PartitionDefinition& one) { return one.name == name; });
  return all;
}

}  // namespace ibpod::sm::partitions
