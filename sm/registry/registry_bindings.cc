// Bind and Unbind.
#include "sm/registry/state.h"
#include "sm/registry/conflicts.h"
#include "sm/registry/registry.h"
#include "sm/registry/names.h"
#include "sm/registry/authz.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm {
namespace {

using fabric::Reason;
using fabric::Standing;
using fabric::State;
using fabricapi::BindRequest;
using fabricapi::Caller;

Status check_same(const BindRequest& request, const Entry* present) {
  if (present == nullptr) return ok();
  const fabric::Binding& binding = present->binding;
  if (binding.state == State::releasing)
    return Error(Code::busy, "its former binding is being released");
  const auto refused = [](const std::string& what) {
    return Error(Code::exists, "it is bound already with another " + what + ": unbind it first");
  };
  if (binding.guid != request.guid) return refused("port, " + binding.guid.text());
  if (binding.kind != request.kind) return refused("kind");
  if (binding.device != request.device) return refused("device");
  if (binding.pod != request.pod) return refused("pod");
  return ok();
}

// As whoever asks knows it: a name may be none of his business.
std::string label(const BindRequest::Wish& wish) {
  return wish.pkey ? wish.pkey->text() : wish.partition;
}

const Tenant* tenant_of(const Book& book, const BindRequest::Wish& wish) {
  if (!wish.pkey) return book.find_tenant(wish.partition);
  const auto found = book.by_pkey.find(wish.pkey->partition());
  return found == book.by_pkey.end() ? nullptr : found->second;
}

const Entry* find(const Book& book, const fabric::Attachment& attachment) {
  const auto found = book.bindings.find(attachment);
  return found == book.bindings.end() ? nullptr : &found->second;
}

}  // namespace

Result<BindRequest> Ledger::named(const Caller& caller, BindRequest request) const {
  const std::string step = "bind " + text(request.attachment);
  TRY(usable());
  TRY(check(request, policy_.limits.shares));
  TRY(may_act_for(caller, request.attachment.node).during(step));
  const Entry* const present = find(*book_, request.attachment);
  for (BindRequest::Wish& wish : request.partitions) {
    const Tenant* const tenant = tenant_of(*book_, wish);
    const bool is_in = tenant != nullptr && present != nullptr &&
                       membership_in(present->binding.shares, tenant->tenancy.name);
    if (!is_in) TRY(may_be_in(caller, tenant, label(wish), request).during(step));
    wish.partition = tenant->tenancy.name;
  }
  // Before anything is told of a port that may be anybody's.
  if (request.chosen) TRY(check_use(caller, request, present).during(step));
  return request;
}

std::string Ledger::closed_to_node(const BindRequest& request) const {
  for (const BindRequest::Wish& wish : request.partitions) {
    const Tenant* const tenant = tenant_of(*book_, wish);
    if (tenant != nullptr && fabric::allows(tenant->tenancy, request.pod.name_space) &&
        !fabric::allows_node(tenant->tenancy, request.attachment.node))
      return tenant->tenancy.name;
  }
  return "";
}

Result<fabric::Binding> Ledger::bind(const Caller& caller, const BindRequest& request,
                                     const Places& places, Now now) {
  TRY(usable());
  TRY(check(request, policy_.limits.shares));
  return bind_checked(caller, request, places, now).during("bind " + text(request.attachment));
}

Result<fabric::Binding> Ledger::bind_checked(const Caller& caller, const BindRequest& request,
                                             const Places& places, Now now) {
  const std::string& node = request.attachment.node;
  TRY(may_act_for(caller, node));
  const auto of_node = book_->nodes.find(node);
  if (of_node != book_->nodes.end() && of_node->second.forgetting)
    return Error(Code::unavailable, "node " + node + " is being forgotten");
  const Entry* const present = find(*book_, request.attachment);
  TRY(check_same(request, present));
  Shares shares = TRY(wished(caller, request, present));
  TRY(check_port(caller, request, shares, present));
  if (present != nullptr && present->binding.shares == shares) {
    Entry& entry = book_->bindings.at(request.attachment);
    renew(entry, now);
    return entry.binding;
  }
  TRY(check_places(request.guid, shares, present, places));
  TRY(check_size(request, shares, present));
  if (present != nullptr)
    return bind_again(book_->bindings.at(request.attachment), std::move(shares), now);
  TRY(check_room(node));
  return bind_new(caller, request, std::move(shares), now);
}

Result<Shares> Ledger::wished(const Caller& caller, const BindRequest& request,
                              const Entry* present) const {
  Shares shares;
  for (const BindRequest::Wish& wish : request.partitions) {
    const Tenant* const tenant = book_->find_tenant(wish.partition);
    // Who is in it stays in it as he is, whoever may come from now on.
    std::optional<fabric::Membership> has;
    if (present != nullptr) has = membership_in(present->binding.shares, wish.partition);
    const bool stays = has && wish.membership.value_or(*has) == *has;
    if (!stays) TRY(may_be_in(caller, tenant, label(wish), request));
    const fabric::Membership membership =
        stays ? *has : wish.membership.value_or(tenant->tenancy.membership);
    if (!stays) TRY(may_have(caller, tenant->tenancy, membership));
    if (membership == fabric::Membership::both && !policy_.both_allowed)
      return Error(Code::invalid, "partition " + wish.partition +
                                      ": membership both is not to be had here: limited or full");
    shares.push_back({wish.partition, membership});
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

// Who has chosen it keeps it, whoever may choose from now on.
Status Ledger::check_use(const Caller& caller, const BindRequest& request,
                         const Entry* present) const {
  if (request.chosen && present != nullptr) return ok();
  return may_use_port(caller, request, *book_, policy_);
}

Status Ledger::check_port(const Caller& caller, const BindRequest& request, const Shares& shares,
                          const Entry* present) const {
  TRY(check_use(caller, request, present));
  const Port* const port = book_->find_port(request.guid);
  if (port == nullptr) return check_index0(*book_, request, shares, present);
  TRY(check_holders(caller, request, *port, present));
  TRY(check_memberships(*port, shares, present).during("port " + request.guid.text()));
  return check_index0(*book_, request, shares, present);
}

Status Ledger::check_places(ib::Guid guid, const Shares& shares, const Entry* present,
                            const Places& places) const {
  const size_t needed = places.taken + places_needed(*book_, guid, shares, present);
  const auto check = [&](const std::string& whose, size_t there) {
    if (there == 0 || needed <= there) return ok();
    return Status(Error(
        Code::busy, "capacity: the P_Key table of " + whose + " holds " + std::to_string(there) +
                        " keys, all taken: " + std::to_string(needed) + " would be needed"));
  };
  TRY(check("port " + guid.text(), places.of_port));
  return check("the switch port of port " + guid.text(), places.of_leaf);
}

Status Ledger::check_room(const std::string& node) const {
  TRY(check_known(node));
  if (book_->bindings.size() >= policy_.limits.bindings)
    return Error(Code::busy, "there are as many bindings as there may be");
  const auto found = book_->nodes.find(node);
  if (found == book_->nodes.end() || found->second.bindings < policy_.limits.bindings_of_node)
    return ok();
  return Error(Code::busy, "node " + node + " has as many bindings as a node may");
}

// What nodes ask for never makes partitions.conf larger than it may be. Whoever asks for less than
// there is always may.
Status Ledger::check_size(const BindRequest& request, const Shares& shares,
                          const Entry* present) const {
  const std::string& node = request.attachment.node;
  const Limits& limits = policy_.limits;
  const size_t now = book_->memberships_with(request.guid, {}, nullptr);
  const size_t then = book_->memberships_with(request.guid, shares, present);
  if (then <= now) return ok();
  const auto of_node = book_->nodes.find(node);
  const size_t nodes =
      then - now + (of_node == book_->nodes.end() ? 0 : of_node->second.memberships);
  if (nodes > limits.memberships_of_node)
    return Error(Code::busy, "node " + node + " would have " + std::to_string(nodes) +
                                 " memberships (a port in a partition), and a node may have " +
                                 std::to_string(limits.memberships_of_node) +
                                 ": end pods there, or ask for fewer partitions, or raise "
                                 "limits.membershipsOfNode in ibpod-sm's configuration");
  const size_t all = then - now + book_->memberships;
  const size_t bytes = (all + book_->static_members) * fabric::kMostMemberBytes +
                       (book_->tenants.size() + 1) * fabric::kMostHeadBytes + others_bytes_;
  if (all <= limits.memberships && bytes <= fabric::kMostBytes) return ok();
  return Error(Code::busy, "all nodes together would have " + std::to_string(all) +
                               " memberships (a port in a partition), besides " +
                               std::to_string(book_->static_members) +
                               " static members: partitions.conf has room for " +
                               std::to_string(limits.memberships) + " memberships at most, and " +
                               std::to_string(fabric::kMostBytes) +
                               " bytes: end pods, or take members out of partitions");
}

fabric::Binding Ledger::bind_new(const Caller& caller, const BindRequest& request, Shares shares,
                                 Now now) {
  if (claims(caller, request, *book_, policy_)) {
    book_->claim(request.guid, request.attachment.node);
    stage(Kind::node, request.attachment.node);
  }
  fabric::Binding binding;
  binding.attachment = request.attachment;
  binding.guid = request.guid;
  binding.chosen = request.chosen;
  binding.kind = request.kind;
  binding.pf = request.pf;
  binding.pf_guid = request.pf_guid;
  binding.device = request.device;
  binding.pod = request.pod;
  binding.held = shares;
  binding.shares = std::move(shares);
  binding.generation = 1;
  binding.standing = {Reason::waiting, ""};
  binding.asked = binding.changed = now.wall;
  Entry& entry = book_->add(std::move(binding), {});
  renew(entry, now);
  stage(entry);
  refresh(entry.binding.guid);
  return entry.binding;
}

// What it loses has to leave the table before it gains anything.
fabric::Binding Ledger::bind_again(Entry& entry, Shares shares, Now now) {
  fabric::Binding& binding = entry.binding;
  book_->unindex_shares(entry);
  const Shares lost = only_in_first(binding.held, shares);
  entry.former.insert(entry.former.end(), lost.begin(), lost.end());
  binding.held = entry.former.empty() ? shares : in_both(binding.held, shares);
  binding.shares = std::move(shares);
  ++binding.generation;
  book_->index_shares(entry);
  renew(entry, now);
  set_state(entry, State::requested, {Reason::waiting, ""}, now);
  stage(entry);
  refresh(binding.guid);
  return binding;
}

Result<fabric::Binding> Ledger::unbind(const Caller& caller, const fabric::Attachment& attachment,
                                       Now now) {
  TRY(usable());
  TRY(check(attachment));
  TRY(may_act_for(caller, attachment.node).during("unbind " + text(attachment)));
  const auto found = book_->bindings.find(attachment);
  if (found == book_->bindings.end()) {
    fabric::Binding none;
    none.attachment = attachment;
    none.state = State::released;
    return none;
  }
  release(found->second, {Reason::waiting, ""}, now);
  return found->second.binding;
}

void Ledger::release(Entry& entry, Standing why, Now now) {
  fabric::Binding& binding = entry.binding;
  if (binding.state == State::releasing) return;
  book_->end_lease(entry);
  entry.former.insert(entry.former.end(), binding.held.begin(), binding.held.end());
  binding.held.clear();
  entry.lost = false;
  set_state(entry, State::releasing, std::move(why), now);
  stage(entry);
  refresh(binding.guid);
}

std::vector<ib::Guid> Ledger::take_ended() { return std::exchange(ended_, {}); }

void Ledger::finish(Entry& entry, Now now) {
  ++freed_;
  set_state(entry, State::released, {}, now);
  stage(entry);
  const fabric::Binding gone = entry.binding;
  if (gone.chosen) ended_.push_back(gone.guid);
  book_->remove(entry);
  tell_gone(gone);
  refresh(gone.guid);
  finish_forgetting(gone.attachment.node);
}

}  // namespace ibpod::sm
