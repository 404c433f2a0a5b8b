#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::State;

bool needs_a_look(const Entry& entry) {
  if (!entry.former.empty() || entry.binding.held != entry.binding.shares) return true;
  return entry.binding.state != State::verified && !entry.lost;
}

void put(std::set<ib::Guid>& guids, ib::Guid guid, bool inside) {
  if (inside)
    guids.insert(guid);
  else
    guids.erase(guid);
}

}  // namespace

bool is_child(const fabric::Binding& binding) { return binding.kind == fabric::Kind::child; }

Shares all_shares(const Entry& entry) {
  Shares all = entry.binding.shares;
  for (const Shares* more : {&entry.binding.held, &entry.former})
    for (const fabric::Share& share : *more)
      if (!contains(all, share)) all.push_back(share);
  return all;
}

Tenant* Book::find_tenant(const std::string& name) {
  const auto found = tenants.find(name);
  return found == tenants.end() ? nullptr : &found->second;
}

const Tenant* Book::find_tenant(const std::string& name) const {
  const auto found = tenants.find(name);
  return found == tenants.end() ? nullptr : &found->second;
}

const Port* Book::find_port(ib::Guid guid) const {
  const auto found = ports.find(guid);
  return found == ports.end() ? nullptr : &found->second;
}

Port& Book::port(ib::Guid guid) {
  named.insert(guid);
  return ports[guid];
}

Entry& Book::add(fabric::Binding binding, Shares former) {
  const fabric::Attachment attachment = binding.attachment;
  Entry& entry = bindings[attachment];
  entry.binding = std::move(binding);
  entry.former = std::move(former);
  port(entry.binding.guid).bindings.push_back(&entry);
  ++nodes[attachment.node].bindings;
  index_shares(entry);
  return entry;
}

void Book::remove(Entry& entry) {
  unindex_shares(entry);
  end_lease(entry);
  std::erase(port(entry.binding.guid).bindings, &entry);
  --nodes[entry.binding.attachment.node].bindings;
  bindings.erase(bindings.find(entry.binding.attachment));
}

Tenant& Book::add(fabric::Tenancy tenancy) {
  Tenant& tenant = tenants[tenancy.name];
  std::vector<fabric::StaticMember> members = std::exchange(tenancy.members, {});
  tenant.tenancy = std::move(tenancy);
  by_pkey[tenant.tenancy.pkey->partition()] = &tenant;
  set_members(tenant, std::move(members));
  return tenant;
}

void Book::remove(Tenant& tenant) {
  by_pkey.erase(tenant.tenancy.pkey->partition());
  tenants.erase(tenants.find(tenant.tenancy.name));
}

void Book::set_members(Tenant& tenant, std::vector<fabric::StaticMember> members) {
  static_members += members.size();
  static_members -= tenant.tenancy.members.size();
  for (const fabric::StaticMember& member : tenant.tenancy.members)
    std::erase_if(port(member.guid).members,
                  [&](const auto& of_port) { return of_port.first == &tenant; });
  tenant.tenancy.members = std::move(members);
  for (const fabric::StaticMember& member : tenant.tenancy.members)
    port(member.guid).members.emplace_back(&tenant, member.membership);
}

void Book::give(ib::Guid guid, const VfPlace& place) {
  given[guid] = place;
  by_vf[place] = guid;
  named.insert(guid);
  ++nodes[place.node].guids;
}

void Book::claim(ib::Guid guid, const std::string& node) {
  claims[guid] = node;
  named.insert(guid);
  nodes[node].pfs.insert(guid);
}

void Book::remove_node(const std::string& node) {
  std::vector<ib::Guid> freed(nodes[node].pfs.begin(), nodes[node].pfs.end());
  for (const ib::Guid pf : freed) claims.erase(pf);
  auto place = by_vf.lower_bound(VfPlace{node, "", 0});
  while (place != by_vf.end() && place->first.node == node) {
    given.erase(place->second);
    freed.push_back(place->second);
    place = by_vf.erase(place);
  }
  nodes.erase(node);
  for (const ib::Guid guid : freed) drop_if_unnamed(guid);
}

// A partition's P_Key never changes.
void Book::index_shares(Entry& entry) {
  entry.binding.keys.clear();
  for (const fabric::Share& share : entry.binding.shares)
    if (const Tenant* const tenant = find_tenant(share.partition))
      entry.binding.keys.push_back(keys_of(*tenant->tenancy.pkey, share.membership).back());
  for (const fabric::Share& share : all_shares(entry))
    if (Tenant* const tenant = find_tenant(share.partition)) tenant->bindings.insert(&entry);
}

void Book::unindex_shares(Entry& entry) {
  for (const fabric::Share& share : all_shares(entry))
    if (Tenant* const tenant = find_tenant(share.partition)) tenant->bindings.erase(&entry);
}

void Book::renew(Entry& entry, Steady end) {
  end_lease(entry);
  entry.lease_end = end;
  entry.unnamed = false;
  leases.emplace(end, &entry);
}

void Book::end_lease(Entry& entry) { leases.erase({entry.lease_end, &entry}); }

// Checks keep the memberships of one port in one partition the same; index 0 goes to it where
// anything but a child asks.
Port::AllTold Book::wanted(const Port& port) {
  Port::AllTold all;
  for (const auto& [tenant, membership] : port.members)
    all.emplace_back(tenant, Told{membership, false});
  for (const Entry* const entry : port.bindings) {
    if (entry->binding.state == State::releasing) continue;
    for (const fabric::Share& share : entry->binding.held)
      if (Tenant* const tenant = find_tenant(share.partition))
        all.emplace_back(tenant, Told{share.membership, is_child(entry->binding)});
  }
  const auto in_order = [](const auto& a, const auto& b) {
    return std::tie(a.first->tenancy.name, a.second.keeps_index0) <
           std::tie(b.first->tenancy.name, b.second.keeps_index0);
  };
  std::stable_sort(all.begin(), all.end(), in_order);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

void Book::tell(Port::AllTold before, const Port::AllTold& after, ib::Guid guid) {
  std::erase_if(before, [&](const auto& member) {
    return std::find(after.begin(), after.end(), member) != after.end();
  });
  for (const auto& [tenant, told] : before) {
    tenant->told.erase(guid);
    tenant->as_told.reset();
  }
  for (const auto& [tenant, told] : after) {
    const auto [member, added] = tenant->told.try_emplace(guid, told);
    if (added) tenant->as_told.reset();
  }
}

bool Book::refresh(ib::Guid guid, uint64_t next) {
  Port& refreshed = port(guid);
  Port::AllTold after = wanted(refreshed);
  const bool differs = after != refreshed.told;
  if (differs) {
    tell(refreshed.told, after, guid);
    refreshed.told = std::move(after);
    refreshed.changed_in = next;
  }
  count_memberships(guid);
  settle(guid);
  drop_if_unnamed(guid);
  return differs;
}

// What is released takes no place in partitions.conf any more.
size_t Book::memberships_with(ib::Guid guid, const Shares& shares, const Entry* except) const {
  std::set<std::string_view> partitions;
  for (const fabric::Share& share : shares) partitions.insert(share.partition);
  const Port* const found = find_port(guid);
  if (found == nullptr) return partitions.size();
  for (const Entry* const entry : found->bindings)
    if (entry != except && entry->binding.state != State::releasing)
      for (const fabric::Share& share : entry->binding.shares) partitions.insert(share.partition);
  return partitions.size();
}

// A port has bindings of one node alone, but for those that are released.
void Book::count_memberships(ib::Guid guid) {
  Port& counted = port(guid);
  if (counted.memberships > 0) nodes[counted.node].memberships -= counted.memberships;
  memberships -= counted.memberships;
  counted.memberships = memberships_with(guid, {}, nullptr);
  memberships += counted.memberships;
  if (counted.memberships == 0) return;
  for (const Entry* const entry : counted.bindings)
    if (entry->binding.state != State::releasing) counted.node = entry->binding.attachment.node;
  nodes[counted.node].memberships += counted.memberships;
}

void Book::settle(ib::Guid guid) {
  const Port& settled = port(guid);
  const std::vector<Entry*>& of_port = settled.bindings;
  put(requested, guid, std::any_of(of_port.begin(), of_port.end(), [](const Entry* entry) {
        return entry->binding.state == State::requested;
      }));
  put(unsettled, guid,
      !settled.leaving.empty() ||
          std::any_of(of_port.begin(), of_port.end(),
                      [](const Entry* entry) { return needs_a_look(*entry); }));
}

void Book::drop_if_unnamed(ib::Guid guid) {
  if (const Port* const found = find_port(guid)) {
    if (!found->bindings.empty() || !found->members.empty() || !found->leaving.empty()) return;
    ports.erase(guid);
    requested.erase(guid);
    unsettled.erase(guid);
  }
  if (!given.contains(guid) && !claims.contains(guid)) named.erase(guid);
}

}  // namespace ibpod::sm
