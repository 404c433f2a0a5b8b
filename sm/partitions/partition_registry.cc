// Partitions: create, update and delete.
#include "sm/api/authz.h"
#include "sm/registry/conflicts.h"
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;
using fabric::Membership;
using fabric::Partition;
using fabric::PartitionState;
using fabric::PartitionStatus;
using fabric::Reason;
using fabric::StaticMember;
using fabricapi::Caller;

constexpr size_t kMostListed = 5;

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

std::string list(const std::set<ib::Guid>& guids) {
  std::string text;
  size_t listed = 0;
  for (const ib::Guid guid : guids) {
    if (listed == kMostListed)
      return text + " and " + std::to_string(guids.size() - listed) + " more";
    text += (listed++ == 0 ? "" : ", ") + guid.text();
  }
  return text;
}

fabric::Condition waiting_to_go(const PartitionRecord& record) {
  if (!record.swept) return {Reason::waiting, "the subnet manager has not swept without it yet"};
  if (record.former_members.empty()) return {};
  return {Reason::waiting, "these ports may still hold its P_Key: " + list(record.former_members)};
}

Status check_index0_is_free(const State& state, ib::Guid guid, const std::string& partition) {
  for (const std::string& other : index0_of(state, guid, nullptr))
    if (other != partition)
      return Error(
          Code::busy,
          "partition " + other + " already has index 0 of the P_Key table of port " + guid.text());
  return ok();
}

// A static member and the bindings of its port must have the same membership, and at most one
// partition of the port takes index 0.
Status check_member(const State& state, const Partition& partition, const StaticMember& member) {
  const std::string where = "members: " + member.guid.text();
  const PortRecord* const port = state.find_port(member.guid);
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
  if (partition.index0) TRY(check_index0_is_free(state, member.guid, partition.name).during(where));
  return ok();
}

}  // namespace

Status Registry::check_partition(const Partition& partition) const {
  TRY(fabric::check(partition));
  if (partition.members.size() > policy_.limits.members)
    return Error(Code::invalid, "members: " + std::to_string(partition.members.size()) +
                                    ", expected at most " + std::to_string(policy_.limits.members));
  const bool both =
      partition.membership == Membership::both ||
      std::any_of(partition.members.begin(), partition.members.end(),
                  [](const StaticMember& m) { return m.membership == Membership::both; });
  if (both && !policy_.both_allowed)
    return Error(Code::invalid,
                 "membership \"both\" needs opensm.allowBothPkeys; use limited or full");
  if (partition.sl.value_or(0) != 0 && !policy_.sl_allowed)
    return Error(Code::invalid, "sl: " + std::to_string(*partition.sl) +
                                    ", and OpenSM makes every service level 0 without qos: set "
                                    "opensm.qos to true in ibpod-sm's configuration, or leave sl "
                                    "out");
  for (const StaticMember& member : partition.members)
    TRY(check_member(*state_, partition, member));
  return ok();
}

Result<ib::PKey> Registry::pkey_for(const Partition& partition) const {
  if (partition.pkey) {
    const auto used = state_->by_pkey.find(partition.pkey->partition());
    if (used != state_->by_pkey.end())
      return taken(*used->second, "P_Key " + partition.pkey->text());
    TRY(policy_.pkeys.allows(*partition.pkey));
    if (reserved_pkeys_.contains(partition.pkey->partition()))
      return Error(Code::exists, "P_Key " + partition.pkey->text() +
                                     " is already used by the administrator's section of "
                                     "partitions.conf");
    return *partition.pkey;
  }
  pool::PKeyPool::Partitions used = reserved_pkeys_;
  for (const auto& [pkey, record] : state_->by_pkey) used.insert(pkey);
  return policy_.pkeys.next(used, state_->last_pkey);
}

// Returns the partition with its P_Key.
Result<Partition> Registry::checked_create(const Partition& desired) const {
  if (const PartitionRecord* const record = state_->find_partition(desired.name))
    return taken(*record, "the name");
  if (state_->partitions.size() >= policy_.limits.partitions)
    return Error(Code::busy,
                 "partition limit reached (" + std::to_string(policy_.limits.partitions) + ")");
  TRY(check_partition(desired));
  Partition partition = desired;
  partition.pkey = TRY(pkey_for(desired));
  return partition;
}

Result<PartitionRecord*> Registry::do_create(const Partition& desired) {
  Partition partition = TRY(checked_create(desired));
  if (!desired.pkey) {
    state_->last_pkey = partition.pkey->partition();
    stage(store::RecordKind::range, "pkeys");
  }
  PartitionRecord& record = state_->add(std::move(partition));
  record.version = ++version_;
  record.condition = {Reason::waiting, ""};
  refresh_members(record, {});
  stage(record);
  return &record;
}

Result<PartitionStatus> Registry::create(const Caller& caller, const Partition& partition) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::create_partition));
  const PartitionRecord* const made =
      TRY(do_create(partition).during("partition " + partition.name));
  return status(*made);
}

Result<PartitionStatus> Registry::update(const Caller& caller, const Partition& partition,
                                         Now now) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::update_partition));
  PartitionRecord* const record = state_->find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  TRY(do_update(*record, partition, now).during("partition " + partition.name));
  return status(*record);
}

Result<PartitionStatus> Registry::remove(const Caller& caller, const std::string& name) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::delete_partition));
  PartitionRecord* const record = state_->find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(begin_delete(*record).during("partition " + name));
  return status(*record);
}

Result<PartitionStatus> Registry::forget_ports(const Caller& caller, const std::string& name,
                                               const HoldsKey& holds) {
  TRY(remove(caller, name));
  PartitionRecord& record = state_->partitions.at(name);
  const std::set<ib::Guid> leaving = record.former_members;
  for (const ib::Guid guid : leaving)
    if (!holds(guid, *record.partition.pkey)) {
      has_left(guid, record);
      refresh(guid);
    }
  PartitionStatus left = status(record);
  finish_if_gone(record);
  // As in `partition list`: the deletion waits for nothing more.
  if (state_->find_partition(name) == nullptr) left.condition = {};
  return left;
}

Status Registry::check_administered(const PartitionRecord* record, const std::string& name) const {
  if (record == nullptr)
    return Error(Code::not_found, "there is no partition " + name.substr(0, fabric::kMostName));
  if (!record->declared) return ok();
  return Error(Code::denied, "partition " + name + " is declared in a file; change it there");
}

Result<Partition> Registry::checked_update(const PartitionRecord& record,
                                           const Partition& desired) const {
  if (record.deleting()) return Error(Code::busy, "it is being deleted");
  const ib::PKey pkey = *record.partition.pkey;
  if (desired.pkey && !desired.pkey->same_partition(pkey))
    return Error(Code::invalid, "pkey: cannot be changed (it is " + pkey.text() + ")");
  TRY(check_partition(desired));
  if (desired.index0 && !record.partition.index0) TRY(check_index0_of_bindings(record));
  Partition partition = desired;
  partition.pkey = pkey;
  return partition;
}

Status Registry::do_update(PartitionRecord& record, const Partition& desired, Now now) {
  Partition changed = TRY(checked_update(record, desired));
  if (changed == record.partition) return ok();
  ++conflicts_freed_;
  const bool moves = changed.index0 != record.partition.index0;
  const fabric::PartitionDefinition before = rendered(record);
  std::vector<StaticMember> members = std::exchange(changed.members, record.partition.members);
  const std::vector<StaticMember> former = record.partition.members;
  record.partition = std::move(changed);
  state_->set_members(record, std::move(members));
  refresh_members(record, former);
  record.rendered.reset();
  if (rendered(record) != before) partition_changed(record);
  if (moves) touch_members(record);
  require_proof(record, now);
  stage(record);
  return ok();
}

void Registry::partition_changed(PartitionRecord& record) {
  record.version = ++version_;
  record.swept = false;
  record.rendered.reset();
  if (record.state == PartitionState::ready) {
    record.state = PartitionState::provisioning;
    record.condition = {Reason::waiting, ""};
  }
}

Status Registry::check_index0_of_bindings(const PartitionRecord& record) const {
  for (const BindingRecord* const entry : record.bindings)
    if (!is_child(entry->binding))
      TRY(check_index0_is_free(*state_, entry->binding.guid, record.partition.name));
  return ok();
}

// The keys stay, but move to or from index 0.
void Registry::touch_members(const PartitionRecord& record) {
  for (const auto& [guid, member] : record.engine_members) state_->port(guid).changed_in = version_;
}

void Registry::refresh_members(PartitionRecord& record, const std::vector<StaticMember>& former) {
  for (const StaticMember& member : former) {
    if (has(record.partition.members, member.guid)) continue;
    record.former_members.insert(member.guid);
    state_->port(member.guid).former_member_of.insert(&record);
    refresh(member.guid);
  }
  for (const StaticMember& member : record.partition.members) {
    if (!has(former, member.guid) && !record.former_members.contains(member.guid))
      record.never_seen.insert(member.guid);
    record.former_members.erase(member.guid);
    state_->port(member.guid).former_member_of.erase(&record);
    refresh(member.guid);
  }
}

void Registry::require_proof(PartitionRecord& record, Now now) {
  for (const BindingRecord* const known : record.bindings) {
    if (known->binding.state != BindingState::verified ||
        satisfies(known->binding.proof, record.partition.proof))
      continue;
    BindingRecord& entry = state_->bindings.at(known->binding.attachment);
    set_state(entry, BindingState::written, {Reason::waiting, ""}, now);
    state_->update_unsettled(entry.binding.guid);
  }
}

Status Registry::check_unused(const PartitionRecord& record) {
  if (record.bindings.empty()) return ok();
  const size_t count = record.bindings.size();
  return Error(Code::busy, std::to_string(count) +
                               (count == 1 ? " binding still uses it" : " bindings still use it") +
                               "; list them with `ibpodctl binding list --partition " +
                               record.partition.name + "`");
}

Status Registry::begin_delete(PartitionRecord& record) {
  TRY(check_unused(record));
  ++conflicts_freed_;
  record.state = PartitionState::deleting;
  record.declared = false;
  const std::vector<StaticMember> former = record.partition.members;
  state_->set_members(record, {});
  refresh_members(record, former);
  partition_changed(record);
  stage(record);
  return ok();
}

void Registry::finish(PartitionRecord& record) {
  ++conflicts_freed_;
  stage(record);
  state_->remove(record);
}

// Static members have no binding that would show their condition. Names the first faulty one.
fabric::Condition Registry::members_condition(const PartitionRecord& record) const {
  fabric::Condition first;
  size_t more = 0;
  for (const StaticMember& member : record.partition.members) {
    const PortRecord* const port = state_->find_port(member.guid);
    if (port == nullptr || port->condition.reason == Reason::none) continue;
    if (first.reason != Reason::none)
      ++more;
    else
      first = {port->condition.reason,
               "member " + member.guid.text() + ": " + port->condition.text};
  }
  if (more > 0) first.text += " (and " + std::to_string(more) + " more)";
  return first;
}

PartitionStatus Registry::status(const PartitionRecord& record) const {
  PartitionStatus status{record.partition, record.declared, record.state, record.condition,
                         record.bindings.size()};
  if (record.deleting()) status.condition = waiting_to_go(record);
  if (record.state == PartitionState::ready) status.condition = members_condition(record);
  return status;
}

}  // namespace ibpod::sm::registry
