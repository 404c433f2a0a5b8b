#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {
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

}  // namespace

bool is_child(const fabric::Binding& binding) { return binding.kind == fabric::Kind::child; }

Memberships all_memberships(const BindingRecord& entry) {
  Memberships all = entry.binding.desired;
  for (const Memberships* more : {&entry.binding.applied, &entry.pending_removal})
    for (const fabric::PartitionMembership& membership : *more)
      if (!contains(all, membership)) all.push_back(membership);
  return all;
}

PartitionRecord* State::find_partition(const std::string& name) {
  const auto found = partitions.find(name);
  return found == partitions.end() ? nullptr : &found->second;
}

const PartitionRecord* State::find_partition(const std::string& name) const {
  const auto found = partitions.find(name);
  return found == partitions.end() ? nullptr : &found->second;
}

const PortRecord* State::find_port(ib::Guid guid) const {
  const auto found = ports.find(guid);
  return found == ports.end() ? nullptr : &found->second;
}

PortRecord& State::port(ib::Guid guid) {
  guids_in_use.insert(guid);
  return ports[guid];
}

BindingRecord& State::add(fabric::Binding binding, Memberships former) {
  const fabric::Attachment attachment = binding.attachment;
  BindingRecord& entry = bindings[attachment];
  entry.binding = std::move(binding);
  entry.pending_removal = std::move(former);
  port(entry.binding.guid).bindings.push_back(&entry);
  ++nodes[attachment.node].bindings;
  index_memberships(entry);
  return entry;
}

void State::remove(BindingRecord& entry) {
  unindex_memberships(entry);
  end_lease(entry);
  std::erase(port(entry.binding.guid).bindings, &entry);
  --nodes[entry.binding.attachment.node].bindings;
  bindings.erase(bindings.find(entry.binding.attachment));
}

PartitionRecord& State::add(fabric::Partition partition) {
  PartitionRecord& record = partitions[partition.name];
  std::vector<fabric::StaticMember> members = std::exchange(partition.members, {});
  record.partition = std::move(partition);
  by_pkey[record.partition.pkey->partition()] = &record;
  set_members(record, std::move(members));
  return record;
}

void State::remove(PartitionRecord& record) {
  by_pkey.erase(record.partition.pkey->partition());
  partitions.erase(partitions.find(record.partition.name));
}

void State::set_members(PartitionRecord& record, std::vector<fabric::StaticMember> members) {
  static_member_count += members.size();
  static_member_count -= record.partition.members.size();
  for (const fabric::StaticMember& member : record.partition.members)
    std::erase_if(port(member.guid).members,
                  [&](const auto& of_port) { return of_port.first == &record; });
  record.partition.members = std::move(members);
  for (const fabric::StaticMember& member : record.partition.members)
    port(member.guid).members.emplace_back(&record, member.membership);
}

void State::assign_guid(ib::Guid guid, const VfSlot& place) {
  assigned_guids[guid] = place;
  by_vf[place] = guid;
  guids_in_use.insert(guid);
  ++nodes[place.node].guids;
}

void State::claim(ib::Guid guid, const std::string& node) {
  claims[guid] = node;
  guids_in_use.insert(guid);
  nodes[node].pfs.insert(guid);
}

void State::remove_node(const std::string& node) {
  std::vector<ib::Guid> freed(nodes[node].pfs.begin(), nodes[node].pfs.end());
  for (const ib::Guid pf : freed) claims.erase(pf);
  auto place = by_vf.lower_bound(VfSlot{node, "", 0});
  while (place != by_vf.end() && place->first.node == node) {
    assigned_guids.erase(place->second);
    freed.push_back(place->second);
    place = by_vf.erase(place);
  }
  nodes.erase(node);
  for (const ib::Guid guid : freed) drop_if_unnamed(guid);
}

// A partition's P_Key never changes.
void State::index_memberships(BindingRecord& entry) {
  entry.binding.keys.clear();
  for (const fabric::PartitionMembership& membership : entry.binding.desired)
    if (const PartitionRecord* const record = find_partition(membership.partition))
      entry.binding.keys.push_back(keys_of(*record->partition.pkey, membership.membership).back());
  for (const fabric::PartitionMembership& membership : all_memberships(entry))
    if (PartitionRecord* const record = find_partition(membership.partition))
      record->bindings.insert(&entry);
}

void State::unindex_memberships(BindingRecord& entry) {
  for (const fabric::PartitionMembership& membership : all_memberships(entry))
    if (PartitionRecord* const record = find_partition(membership.partition))
      record->bindings.erase(&entry);
}

void State::renew_lease(BindingRecord& entry, Steady end) {
  end_lease(entry);
  entry.lease_end = end;
  entry.missing_from_sync = false;
  leases.emplace(end, &entry);
}

void State::end_lease(BindingRecord& entry) { leases.erase({entry.lease_end, &entry}); }

// All members of one port in one partition have the same membership (conflicts.h). It takes index 0
// if any of them is not a child.
PortRecord::EngineMembers State::desired_members(const PortRecord& port) {
  PortRecord::EngineMembers all;
  for (const auto& [record, membership] : port.members)
    all.emplace_back(record, EngineMember{membership, false});
  for (const BindingRecord* const entry : port.bindings) {
    if (entry->binding.state == BindingState::releasing) continue;
    for (const fabric::PartitionMembership& membership : entry->binding.applied)
      if (PartitionRecord* const record = find_partition(membership.partition))
        all.emplace_back(record, EngineMember{membership.membership, is_child(entry->binding)});
  }
  const auto in_order = [](const auto& a, const auto& b) {
    return std::tie(a.first->partition.name, a.second.skip_index0) <
           std::tie(b.first->partition.name, b.second.skip_index0);
  };
  std::stable_sort(all.begin(), all.end(), in_order);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

void State::update_engine_members(PortRecord::EngineMembers before,
                                  const PortRecord::EngineMembers& after, ib::Guid guid) {
  std::erase_if(before, [&](const auto& member) {
    return std::find(after.begin(), after.end(), member) != after.end();
  });
  for (const auto& [record, member] : before) {
    record->engine_members.erase(guid);
    record->rendered.reset();
  }
  for (const auto& [record, engine_member] : after) {
    const auto [member, added] = record->engine_members.try_emplace(guid, engine_member);
    if (added) record->rendered.reset();
  }
}

bool State::refresh(ib::Guid guid, uint64_t next) {
  PortRecord& refreshed = port(guid);
  PortRecord::EngineMembers after = desired_members(refreshed);
  const bool differs = after != refreshed.engine_members;
  if (differs) {
    update_engine_members(refreshed.engine_members, after, guid);
    refreshed.engine_members = std::move(after);
    refreshed.changed_in = next;
  }
  count_memberships(guid);
  update_unsettled(guid);
  drop_if_unnamed(guid);
  return differs;
}

// Released bindings are no longer in partitions.conf.
size_t State::memberships_with(ib::Guid guid, const Memberships& added,
                               const BindingRecord* except) const {
  std::set<std::string_view> names;
  for (const fabric::PartitionMembership& membership : added) names.insert(membership.partition);
  const PortRecord* const found = find_port(guid);
  if (found == nullptr) return names.size();
  for (const BindingRecord* const entry : found->bindings)
    if (entry != except && entry->binding.state != BindingState::releasing)
      for (const fabric::PartitionMembership& membership : entry->binding.desired)
        names.insert(membership.partition);
  return names.size();
}

// Except for released ones, all bindings of a port are of one node.
void State::count_memberships(ib::Guid guid) {
  PortRecord& counted = port(guid);
  if (counted.memberships > 0) nodes[counted.node].memberships -= counted.memberships;
  membership_count -= counted.memberships;
  counted.memberships = memberships_with(guid, {}, nullptr);
  membership_count += counted.memberships;
  if (counted.memberships == 0) return;
  for (const BindingRecord* const entry : counted.bindings)
    if (entry->binding.state != BindingState::releasing)
      counted.node = entry->binding.attachment.node;
  nodes[counted.node].memberships += counted.memberships;
}

void State::update_unsettled(ib::Guid guid) {
  const PortRecord& settled = port(guid);
  const std::vector<BindingRecord*>& of_port = settled.bindings;
  put(requested, guid, std::any_of(of_port.begin(), of_port.end(), [](const BindingRecord* entry) {
        return entry->binding.state == BindingState::requested;
      }));
  put(unsettled, guid,
      !settled.former_member_of.empty() ||
          std::any_of(of_port.begin(), of_port.end(),
                      [](const BindingRecord* entry) { return is_unsettled(*entry); }));
}

void State::drop_if_unnamed(ib::Guid guid) {
  if (const PortRecord* const found = find_port(guid)) {
    if (!found->bindings.empty() || !found->members.empty() || !found->former_member_of.empty())
      return;
    ports.erase(guid);
    requested.erase(guid);
    unsettled.erase(guid);
  }
  if (!assigned_guids.contains(guid) && !claims.contains(guid)) guids_in_use.erase(guid);
}

}  // namespace ibpod::sm::registry
