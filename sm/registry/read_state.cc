#include "sm/registry/read_state.h"

#include "sm/registry/names.h"
#include "sm/registry/stored.h"

namespace ibpod::sm {
namespace {

using fabric::State;
using Values = std::map<std::string, std::string>;

Error unfit(const std::string& text) { return {Code::invalid, text}; }

Status read_partition(Book& book, const std::string& key, const std::string& value) {
  StoredPartition stored = TRY(partition_from(value));
  if (stored.tenancy.name != key) return unfit("it is that of " + stored.tenancy.name);
  const auto other = book.by_pkey.find(stored.tenancy.pkey->partition());
  if (other != book.by_pkey.end())
    return unfit("its P_Key is that of partition " + other->second->tenancy.name);
  Tenant& tenant = book.add(std::move(stored.tenancy));
  tenant.declared = stored.declared;
  tenant.standing = {fabric::Reason::waiting, ""};
  if (stored.deleting) tenant.state = fabric::TenancyState::deleting;
  tenant.leaving = std::move(stored.leaving);
  for (const ib::Guid guid : tenant.leaving) book.port(guid).leaving.insert(&tenant);
  return ok();
}

Status check_shares(const Book& book, const StoredBinding& stored) {
  for (const Shares* const shares : {&stored.binding.shares, &stored.binding.held, &stored.former})
    for (const fabric::Share& share : *shares) {
      const Tenant* const tenant = book.find_tenant(share.partition);
      if (tenant == nullptr || tenant->deleting())
        return unfit("there is no partition " + share.partition.substr(0, fabric::kMostName));
    }
  if (stored.binding.state == State::releasing && !stored.binding.held.empty())
    return unfit("it is released, and holds keys");
  if (only_in_first(stored.binding.held, stored.binding.shares).empty()) return ok();
  return unfit("it holds keys that it is not to have");
}

Status check_memberships(const Port& port, const fabric::Binding& binding) {
  for (const fabric::Share& share : binding.held) {
    for (const Entry* const other : port.bindings)
      if (membership_in(other->binding.held, share.partition).value_or(share.membership) !=
          share.membership)
        return unfit("its port is in partition " + share.partition + " in two ways");
    for (const auto& [tenant, membership] : port.members)
      if (tenant->tenancy.name == share.partition && membership != share.membership)
        return unfit("its port is in partition " + share.partition + " in two ways");
  }
  return ok();
}

Status check_port(const Book& book, const fabric::Binding& binding) {
  const Port* const port = book.find_port(binding.guid);
  if (port == nullptr) return ok();
  for (const Entry* const other : port->bindings) {
    const fabric::Binding& theirs = other->binding;
    const bool children = binding.kind == fabric::Kind::child && theirs.kind == fabric::Kind::child;
    if (!children || theirs.attachment.node != binding.attachment.node)
      return unfit("its port is that of " + text(theirs.attachment));
  }
  return check_memberships(*port, binding);
}

Status read_binding(Book& book, const std::string& key, const std::string& value) {
  StoredBinding stored = TRY(binding_from(value));
  TRY(check(stored.binding.attachment));
  if (key_of(stored.binding.attachment) != key)
    return unfit("it is that of " + text(stored.binding.attachment));
  TRY(check_shares(book, stored));
  TRY(check_port(book, stored.binding));
  book.add(std::move(stored.binding), std::move(stored.former));
  return ok();
}

Status read_node(Book& book, const std::string& key, const std::string& value) {
  const StoredNode stored = TRY(node_from(value));
  TRY(check_node(key));
  book.nodes[key].forgetting = stored.forgetting;
  book.nodes[key].machine = Machine(stored.boot, {});
  for (const ib::Guid guid : stored.pfs) {
    const auto other = book.claims.find(guid);
    if (other != book.claims.end())
      return unfit("node " + other->second + " has claimed " + guid.text() + ", too");
    book.claim(guid, key);
  }
  return ok();
}

Status read_vf(Book& book, const std::string& key, const std::string& value) {
  const ib::Guid guid = TRY(ib::Guid::parse(key));
  const VfPlace place = TRY(place_from(value));
  TRY(check_node(place.node));
  if (book.by_vf.contains(place)) return unfit("its VF has two");
  book.give(guid, place);
  return ok();
}

Status read_last(Book& book, const std::string& key, const std::string& value) {
  const uint64_t last = TRY(last_from(value));
  if (key == "pkeys") {
    if (last > 0x7fff) return unfit("it is no P_Key");
    book.last_pkey = static_cast<uint16_t>(last);
    return ok();
  }
  if (key != "guids") return unfit("there is no such pool");
  book.last_guid = ib::Guid(last);
  return ok();
}

using Read = Status (*)(Book&, const std::string& key, const std::string& value);

Status read_all(Store& store, Kind kind, const char* what, Book& book, Read read) {
  const Values values = TRY(store.all(kind));
  for (const auto& [key, value] : values)
    TRY(read(book, key, value).during(std::string(what) + " \"" + key + "\" of the store"));
  return ok();
}

Status check_ranges(const Book& book, const Policy& policy) {
  PKeyPool::Partitions live;
  for (const auto& [pkey, tenant] : book.by_pkey)
    if (!tenant->deleting()) live.insert(pkey);
  return policy.pkeys.covers(live);
}

// With OpenSM's option off `both` would become full, and with it the whole file be refused.
Status check_both(const Book& book, const Policy& policy) {
  if (policy.both_allowed) return ok();
  const auto refuse = [](const std::string& partition, const std::string& whose) {
    return Error(Code::invalid,
                 "partition " + partition + ": the membership of " + whose +
                     " is both, which is not to be had without allowBothPkeys: start "
                     "with it, make that limited or full, then switch it off");
  };
  const auto is_both = [](const auto& one) { return one.membership == fabric::Membership::both; };
  for (const auto& [name, tenant] : book.tenants) {
    const fabric::Tenancy& tenancy = tenant.tenancy;
    if (tenant.deleting()) continue;
    if (is_both(tenancy)) return refuse(name, "bindings that name none");
    for (const fabric::StaticMember& member : tenancy.members)
      if (is_both(member)) return refuse(name, "member " + member.guid.text());
  }
  for (const auto& [attachment, entry] : book.bindings) {
    if (entry.binding.state == State::releasing) continue;
    for (const fabric::Share& share : entry.binding.shares)
      if (is_both(share)) return refuse(share.partition, "binding " + text(attachment));
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<Book>> read_book(Store& store, const Policy& policy) {
  auto book = std::make_unique<Book>();
  TRY(read_all(store, Kind::partition, "partition", *book, read_partition));
  TRY(read_all(store, Kind::binding, "binding", *book, read_binding));
  TRY(read_all(store, Kind::node, "node", *book, read_node));
  TRY(read_all(store, Kind::guid, "GUID", *book, read_vf));
  TRY(read_all(store, Kind::range, "pool", *book, read_last));
  TRY(check_ranges(*book, policy));
  TRY(check_both(*book, policy));
  return book;
}

}  // namespace ibpod::sm
