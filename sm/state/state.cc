#include "sm/state/state.h"

#include "sm/state/engine_members.h"

#include <algorithm>

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;

bool is_unsettled(const BindingRecord& entry) {
  if (!entry.pending_removal.empty() || entry.binding.applied != entry.binding.desired) return true;
  return entry.binding.state != BindingState::verified && !entry.lease_expired;
}

void put(std::set<ib::Guid>& guids, ib::Guid guid, bool inside) {
  if (inside)
    guids.insert(guid);
  else
    guids.erase(guid);
}

PartitionRecord* find_partition(Records& records, const std::string& name) {
  const auto found = records.partitions.find(name);
  return found == records.partitions.end() ? nullptr : &found->second;
}

// A partition's P_Key never changes.
void index_memberships(Records& records, BindingRecord& entry) {
  entry.binding.keys.clear();
  for (const fabric::PartitionMembership& membership : entry.binding.desired)
    if (const PartitionRecord* const record = records.find_partition(membership.partition))
      entry.binding.keys.push_back(keys_of(*record->partition.pkey, membership.membership).back());
  for (const fabric::PartitionMembership& membership : all_memberships(entry))
    if (PartitionRecord* const record = find_partition(records, membership.partition))
      record->bindings.insert(&entry);
}

void unindex_memberships(Records& records, BindingRecord& entry) {
  for (const fabric::PartitionMembership& membership : all_memberships(entry))
    if (PartitionRecord* const record = find_partition(records, membership.partition))
      record->bindings.erase(&entry);
}

// All bindings of a port, except for released ones, are of one node.
void count_memberships(Records& records, ib::Guid guid, PortRecord& counted) {
  if (counted.memberships > 0) records.nodes[counted.node].memberships -= counted.memberships;
  records.membership_count -= counted.memberships;
  counted.memberships = memberships_with(records, guid, {}, nullptr);
  records.membership_count += counted.memberships;
  if (counted.memberships == 0) return;
  for (const BindingRecord* const entry : counted.bindings)
    if (entry->binding.state != BindingState::releasing)
      counted.node = entry->binding.attachment.node;
  records.nodes[counted.node].memberships += counted.memberships;
}

void drop_if_unnamed(Records& records, ib::Guid guid) {
  if (const PortRecord* const found = records.find_port(guid)) {
    if (!found->bindings.empty() || !found->members.empty() || !found->former_member_of.empty())
      return;
    records.ports.erase(guid);
    records.requested.erase(guid);
    records.unsettled.erase(guid);
  }
  if (!records.guids.assigned.contains(guid) && !records.guids.claims.contains(guid))
    records.guids.in_use.erase(guid);
}

}  // namespace

BindingRecord* State::find_binding(const fabric::Attachment& attachment) {
  const auto found = records_.bindings.find(attachment);
  return found == records_.bindings.end() ? nullptr : &found->second;
}

PartitionRecord* State::find_partition(const std::string& name) {
  return state::find_partition(records_, name);
}

PortRecord& State::port(ib::Guid guid) {
  records_.guids.in_use.insert(guid);
  return records_.ports[guid];
}

NodeRecord& State::node(const std::string& name) { return records_.nodes[name]; }

BindingRecord& State::add(fabric::Binding binding, Memberships former) {
  const fabric::Attachment attachment = binding.attachment;
  BindingRecord& entry = records_.bindings[attachment];
  entry.binding = std::move(binding);
  entry.pending_removal = std::move(former);
  port(entry.binding.guid).bindings.push_back(&entry);
  ++records_.nodes[attachment.node].bindings;
  index_memberships(records_, entry);
  return entry;
}

void State::remove(BindingRecord& entry, Steady now) {
  if (entry.binding.guid_requested) records_.guids.released[entry.binding.guid] = now;
  unindex_memberships(records_, entry);
  end_lease(entry);
  std::erase(port(entry.binding.guid).bindings, &entry);
  --records_.nodes[entry.binding.attachment.node].bindings;
  records_.bindings.erase(records_.bindings.find(entry.binding.attachment));
}

PartitionRecord& State::add(fabric::Partition partition) {
  PartitionRecord& record = records_.partitions[partition.name];
  std::vector<fabric::StaticMember> members = std::exchange(partition.members, {});
  record.partition = std::move(partition);
  records_.by_pkey[record.partition.pkey->partition()] = &record;
  set_members(record, std::move(members));
  return record;
}

void State::remove(PartitionRecord& record) {
  records_.by_pkey.erase(record.partition.pkey->partition());
  records_.partitions.erase(records_.partitions.find(record.partition.name));
}

void State::set_members(PartitionRecord& record, std::vector<fabric::StaticMember> members) {
  records_.static_member_count += members.size();
  records_.static_member_count -= record.partition.members.size();
  for (const fabric::StaticMember& member : record.partition.members)
    std::erase_if(port(member.guid).members,
                  [&](const auto& of_port) { return of_port.first == &record; });
  record.partition.members = std::move(members);
  for (const fabric::StaticMember& member : record.partition.members)
    port(member.guid).members.emplace_back(&record, member.membership);
}

void State::assign_guid(ib::Guid guid, const VfSlot& place) {
  records_.guids.assigned[guid] = place;
  records_.guids.by_vf[place] = guid;
  records_.guids.in_use.insert(guid);
  ++records_.nodes[place.node].guids;
}

void State::claim(ib::Guid guid, const std::string& node) {
  records_.guids.claims[guid] = node;
  records_.guids.in_use.insert(guid);
  records_.nodes[node].pfs.insert(guid);
}

void State::remove_node(const std::string& node) {
  std::vector<ib::Guid> freed(records_.nodes[node].pfs.begin(), records_.nodes[node].pfs.end());
  for (const ib::Guid pf : freed) records_.guids.claims.erase(pf);
  auto place = records_.guids.by_vf.lower_bound(VfSlot{node, "", 0});
  while (place != records_.guids.by_vf.end() && place->first.node == node) {
    records_.guids.assigned.erase(place->second);
    freed.push_back(place->second);
    place = records_.guids.by_vf.erase(place);
  }
  records_.nodes.erase(node);
  for (const ib::Guid guid : freed) drop_if_unnamed(records_, guid);
}

void State::set_former_member(PartitionRecord& record, ib::Guid guid, bool is_former) {
  if (is_former) {
    record.former_members.insert(guid);
    port(guid).former_member_of.insert(&record);
  } else {
    record.former_members.erase(guid);
    port(guid).former_member_of.erase(&record);
  }
}

void State::set_memberships(BindingRecord& entry, Memberships desired, Memberships applied,
                            Memberships pending_removal) {
  unindex_memberships(records_, entry);
  entry.binding.desired = std::move(desired);
  entry.binding.applied = std::move(applied);
  entry.pending_removal = std::move(pending_removal);
  index_memberships(records_, entry);
}

void State::forget_released(Steady before) {
  std::erase_if(records_.guids.released, [&](const auto& one) { return one.second < before; });
}

void State::renew_lease(BindingRecord& entry, Steady end) {
  end_lease(entry);
  entry.lease_end = end;
  entry.missing_from_sync = false;
  records_.leases.emplace(end, &entry);
}

void State::end_lease(BindingRecord& entry) { records_.leases.erase({entry.lease_end, &entry}); }

bool State::refresh(ib::Guid guid, uint64_t next) {
  PortRecord& refreshed = port(guid);
  const bool differs = update_engine_members(records_, guid, refreshed);
  if (differs) refreshed.changed_in = next;
  count_memberships(records_, guid, refreshed);
  update_unsettled(guid);
  drop_if_unnamed(records_, guid);
  return differs;
}

void State::update_unsettled(ib::Guid guid) {
  const PortRecord& settled = port(guid);
  const std::vector<BindingRecord*>& of_port = settled.bindings;
  put(records_.requested, guid,
      std::any_of(of_port.begin(), of_port.end(), [](const BindingRecord* entry) {
        return entry->binding.state == BindingState::requested;
      }));
  put(records_.unsettled, guid,
      !settled.former_member_of.empty() ||
          std::any_of(of_port.begin(), of_port.end(),
                      [](const BindingRecord* entry) { return is_unsettled(*entry); }));
}

}  // namespace ibpod::sm::state
