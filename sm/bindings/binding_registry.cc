// Bind and Unbind.
#include "sm/api/authz.h"
#include "sm/registry/authz.h"
#include "sm/registry/conflicts.h"
#include "sm/registry/names.h"
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;
using fabric::Condition;
using fabric::Reason;
using fabricapi::BindRequest;
using fabricapi::Caller;

// What the fields of a request allow, but not all of them together. A partition that is named and
// requested by P_Key, too, shows only when it is resolved.
Status check_request(const BindRequest& request, size_t most) {
  if (request.guid_requested && request.kind != fabric::Kind::vf)
    return Error(Code::invalid,
                 "chosen: only a VF can request a GUID; a child has the GUID of its PF");
  if (request.partitions.size() > most)
    return Error(Code::invalid, "partitions: " + std::to_string(request.partitions.size()) +
                                    ", expected at most " + std::to_string(most));
  std::set<std::string_view> seen;
  for (const BindRequest::PartitionRequest& wish : request.partitions)
    if (!wish.partition.empty() && !seen.insert(wish.partition).second)
      return Error(Code::invalid, "partition " + wish.partition + " is listed twice");
  return ok();
}

Status check_same(const BindRequest& request, const BindingRecord* present) {
  if (present == nullptr) return ok();
  const fabric::Binding& binding = present->binding;
  if (binding.state == BindingState::releasing)
    return Error(Code::busy, "its previous binding is being released");
  const auto refused = [](const std::string& what) {
    return Error(Code::exists, "it is already bound with another " + what + "; unbind it first");
  };
  if (binding.guid != request.guid) return refused("port, " + binding.guid.text());
  if (binding.kind != request.kind) return refused("kind");
  if (binding.device != request.device) return refused("device");
  if (binding.pod != request.pod) return refused("pod");
  return ok();
}

// The partition as the caller named it: the caller may not be allowed to know its name.
std::string label(const BindRequest::PartitionRequest& wish) {
  return wish.pkey ? wish.pkey->text() : wish.partition;
}

const PartitionRecord* find_requested(const State& state,
                                      const BindRequest::PartitionRequest& wish) {
  if (!wish.pkey) return state.find_partition(wish.partition);
  const auto found = state.by_pkey.find(wish.pkey->partition());
  return found == state.by_pkey.end() ? nullptr : found->second;
}

const BindingRecord* find(const State& state, const fabric::Attachment& attachment) {
  const auto found = state.bindings.find(attachment);
  return found == state.bindings.end() ? nullptr : &found->second;
}

}  // namespace

Result<BindRequest> Registry::resolve(const Caller& caller, BindRequest request) const {
  const std::string step = "bind " + text(request.attachment);
  TRY(check_readable());
  TRY(check_request(request, policy_.limits.memberships_of_binding));
  const BindingRecord* const present = find(*state_, request.attachment);
  for (BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = find_requested(*state_, wish);
    const bool is_in = record != nullptr && present != nullptr &&
                       membership_in(present->binding.desired, record->partition.name);
    if (!is_in) TRY(may_join(caller, record, label(wish), request).during(step));
    wish.partition = record->partition.name;
  }
  // Checked first: later errors name the owner of the port.
  if (request.guid_requested) TRY(check_use(caller, request, present).during(step));
  return request;
}

std::string Registry::denied_to_node(const BindRequest& request) const {
  for (const BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = find_requested(*state_, wish);
    if (record != nullptr && fabric::allows(record->partition, request.pod.name_space) &&
        !fabric::allows_node(record->partition, request.attachment.node))
      return record->partition.name;
  }
  return "";
}

Result<fabric::Binding> Registry::bind(const Caller& caller, const BindRequest& request,
                                       const TableCapacity& places, Now now) {
  TRY(check_readable());
  TRY(check_request(request, policy_.limits.memberships_of_binding));
  return bind_checked(caller, request, places, now).during("bind " + text(request.attachment));
}

Result<fabric::Binding> Registry::bind_checked(const Caller& caller, const BindRequest& request,
                                               const TableCapacity& places, Now now) {
  const std::string& node = request.attachment.node;
  TRY(api::authorize(caller, api::Call::bind, node));
  const auto of_node = state_->nodes.find(node);
  if (of_node != state_->nodes.end() && of_node->second.forgetting)
    return Error(Code::unavailable, "node " + node + " is being forgotten");
  const BindingRecord* const present = find(*state_, request.attachment);
  TRY(check_same(request, present));
  Memberships memberships = TRY(requested_memberships(caller, request, present));
  TRY(check_port(caller, request, memberships, present));
  if (present != nullptr && present->binding.desired == memberships) {
    BindingRecord& entry = state_->bindings.at(request.attachment);
    renew(entry, now);
    return entry.binding;
  }
  TRY(check_capacity(request.guid, memberships, present, places));
  TRY(check_size(request, memberships, present));
  if (present != nullptr)
    return rebind(state_->bindings.at(request.attachment), std::move(memberships), now);
  TRY(check_room(node));
  return bind_new(caller, request, std::move(memberships), now);
}

Result<Memberships> Registry::requested_memberships(const Caller& caller,
                                                    const BindRequest& request,
                                                    const BindingRecord* present) const {
  Memberships memberships;
  for (const BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = state_->find_partition(wish.partition);
    // An existing member keeps its membership, even if the partition no longer allows it.
    std::optional<fabric::Membership> has;
    if (present != nullptr) has = membership_in(present->binding.desired, wish.partition);
    const bool stays = has && wish.membership.value_or(*has) == *has;
    if (!stays) TRY(may_join(caller, record, label(wish), request));
    const fabric::Membership membership =
        stays ? *has : wish.membership.value_or(record->partition.membership);
    if (!stays) TRY(may_have(caller, record->partition, membership));
    if (membership == fabric::Membership::both && !policy_.both_allowed)
      return Error(Code::invalid, "partition " + wish.partition +
                                      ": membership \"both\" needs opensm.allowBothPkeys; use "
                                      "limited or full");
    memberships.push_back({wish.partition, membership});
  }
  std::sort(memberships.begin(), memberships.end());
  return memberships;
}

// A pod keeps the GUID that it has requested, even if the ranges no longer allow it.
Status Registry::check_use(const Caller& caller, const BindRequest& request,
                           const BindingRecord* present) const {
  if (request.guid_requested && present != nullptr) return ok();
  return may_use_port(caller, request, *state_, policy_);
}

Status Registry::check_port(const Caller& caller, const BindRequest& request,
                            const Memberships& memberships, const BindingRecord* present) const {
  TRY(check_use(caller, request, present));
  const PortRecord* const port = state_->find_port(request.guid);
  if (port == nullptr) return check_index0(*state_, request, memberships, present);
  TRY(check_holders(caller, request, *port, present));
  TRY(check_memberships(*port, memberships, present).during("port " + request.guid.text()));
  return check_index0(*state_, request, memberships, present);
}

Status Registry::check_capacity(ib::Guid guid, const Memberships& memberships,
                                const BindingRecord* present, const TableCapacity& places) const {
  const size_t needed = places.taken + entries_needed_at(*state_, guid, memberships, present);
  const auto check = [&](const std::string& whose, size_t there) {
    if (there == 0 || needed <= there) return ok();
    return Status(Error(Code::busy, "capacity: the P_Key table of " + whose + " is full: it has " +
                                        std::to_string(there) + " entries, and " +
                                        std::to_string(needed) +
                                        " are needed; request fewer partitions for this port"));
  };
  TRY(check("port " + guid.text(), places.of_port));
  return check("the switch port of port " + guid.text(), places.of_switch_port);
}

Status Registry::check_room(const std::string& node) const {
  TRY(check_known_node(node));
  if (state_->bindings.size() >= policy_.limits.bindings)
    return Error(Code::busy,
                 "binding limit reached (" + std::to_string(policy_.limits.bindings) + ")");
  const auto found = state_->nodes.find(node);
  if (found == state_->nodes.end() || found->second.bindings < policy_.limits.bindings_of_node)
    return ok();
  return Error(Code::busy, "binding limit of node " + node + " reached (" +
                               std::to_string(policy_.limits.bindings_of_node) + ")");
}

// Requests of nodes must not make partitions.conf too large. A request that reduces the number of
// memberships always passes.
Status Registry::check_size(const BindRequest& request, const Memberships& memberships,
                            const BindingRecord* present) const {
  const std::string& node = request.attachment.node;
  const RegistryLimits& limits = policy_.limits;
  const size_t now = state_->memberships_with(request.guid, {}, nullptr);
  const size_t then = state_->memberships_with(request.guid, memberships, present);
  if (then <= now) return ok();
  const auto of_node = state_->nodes.find(node);
  const size_t nodes =
      then - now + (of_node == state_->nodes.end() ? 0 : of_node->second.memberships);
  if (nodes > limits.memberships_of_node)
    return Error(Code::busy, "membership limit of node " + node + " reached (" +
                                 std::to_string(limits.memberships_of_node) + "): it would have " +
                                 std::to_string(nodes) +
                                 " memberships (a port in a partition); end pods there, request "
                                 "fewer partitions, or raise limits.membershipsOfNode in "
                                 "ibpod-sm's configuration");
  const size_t all = then - now + state_->membership_count;
  const size_t bytes = (all + state_->static_member_count) * fabric::kMostMemberBytes +
                       (state_->partitions.size() + 1) * fabric::kMostHeadBytes + reserved_bytes_;
  if (all <= limits.memberships && bytes <= fabric::kMostBytes) return ok();
  return Error(Code::busy, "membership limit of all nodes reached (" +
                               std::to_string(limits.memberships) + ", and " +
                               std::to_string(fabric::kMostBytes) +
                               " bytes of partitions.conf): there would be " + std::to_string(all) +
                               " memberships (a port in a partition) besides " +
                               std::to_string(state_->static_member_count) +
                               " static members; end pods, or remove members from partitions");
}

fabric::Binding Registry::bind_new(const Caller& caller, const BindRequest& request,
                                   Memberships memberships, Now now) {
  if (claims_pf(caller, request, *state_, policy_)) {
    state_->claim(request.guid, request.attachment.node);
    stage(store::RecordKind::node, request.attachment.node);
  }
  fabric::Binding binding;
  binding.attachment = request.attachment;
  binding.guid = request.guid;
  binding.guid_requested = request.guid_requested;
  binding.kind = request.kind;
  binding.pf = request.pf;
  binding.pf_guid = request.pf_guid;
  binding.device = request.device;
  binding.pod = request.pod;
  binding.applied = memberships;
  binding.desired = std::move(memberships);
  binding.generation = 1;
  binding.condition = {Reason::waiting, ""};
  binding.asked = binding.changed = now.wall;
  BindingRecord& entry = state_->add(std::move(binding), {});
  renew(entry, now);
  stage(entry);
  refresh(entry.binding.guid);
  return entry.binding;
}

// Lost keys must leave the table before new ones come.
fabric::Binding Registry::rebind(BindingRecord& entry, Memberships memberships, Now now) {
  fabric::Binding& binding = entry.binding;
  state_->unindex_memberships(entry);
  const Memberships lost = only_in_first(binding.applied, memberships);
  entry.pending_removal.insert(entry.pending_removal.end(), lost.begin(), lost.end());
  binding.applied =
      entry.pending_removal.empty() ? memberships : in_both(binding.applied, memberships);
  binding.desired = std::move(memberships);
  ++binding.generation;
  state_->index_memberships(entry);
  renew(entry, now);
  set_state(entry, BindingState::requested, {Reason::waiting, ""}, now);
  stage(entry);
  refresh(binding.guid);
  return binding;
}

Result<fabric::Binding> Registry::unbind(const Caller& caller, const fabric::Attachment& attachment,
                                         Now now) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::unbind, attachment.node));
  const auto found = state_->bindings.find(attachment);
  if (found == state_->bindings.end()) {
    fabric::Binding none;
    none.attachment = attachment;
    none.state = BindingState::released;
    return none;
  }
  release(found->second, {Reason::waiting, ""}, now);
  return found->second.binding;
}

void Registry::release(BindingRecord& entry, Condition why, Now now) {
  fabric::Binding& binding = entry.binding;
  if (binding.state == BindingState::releasing) return;
  state_->end_lease(entry);
  entry.pending_removal.insert(entry.pending_removal.end(), binding.applied.begin(),
                               binding.applied.end());
  binding.applied.clear();
  entry.lease_expired = false;
  set_state(entry, BindingState::releasing, std::move(why), now);
  stage(entry);
  refresh(binding.guid);
}

std::vector<ib::Guid> Registry::take_ended() { return std::exchange(ended_, {}); }

void Registry::finish(BindingRecord& entry, Now now) {
  ++conflicts_freed_;
  set_state(entry, BindingState::released, {}, now);
  stage(entry);
  const fabric::Binding gone = entry.binding;
  if (gone.guid_requested) ended_.push_back(gone.guid);
  state_->remove(entry);
  note_removed(gone);
  refresh(gone.guid);
  finish_forgetting(gone.attachment.node);
}

}  // namespace ibpod::sm::registry
