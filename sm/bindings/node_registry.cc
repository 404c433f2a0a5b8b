// Nodes: leases, GUIDs, and forgetting a node.
#include "sm/api/authz.h"
#include "sm/registry/authz.h"
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;
using fabric::Condition;
using fabric::Reason;
using fabricapi::AllocatedGuid;
using fabricapi::AllocateRequest;
using fabricapi::Caller;
using fabricapi::SyncAnswer;
using fabricapi::SyncRequest;

constexpr Duration kLeastLease{3000};  // in an answer: an agent calls three times in it

// The reasons why a lease has ended, or is ended early.
Condition silent(const BindingRecord& entry) {
  return {Reason::lease,
          "no contact with node " + entry.binding.attachment.node + " for a whole lease"};
}
Condition not_named(const BindingRecord& entry) {
  return {Reason::lease,
          "node " + entry.binding.attachment.node + " no longer reports this attachment"};
}

// All bindings of a node, in order. The result stays valid for the others if one is removed.
std::vector<BindingRecord*> entries_of(State& state, const std::string& node) {
  std::vector<BindingRecord*> found;
  for (auto at = state.bindings.lower_bound({node, "", ""});
       at != state.bindings.end() && at->first.node == node; ++at)
    found.push_back(&at->second);
  return found;
}

}  // namespace

Status Registry::check_known_node(const std::string& node) const {
  if (state_->nodes.contains(node) || state_->nodes.size() < policy_.limits.nodes) return ok();
  return Error(Code::busy, "node limit reached (" + std::to_string(policy_.limits.nodes) + ")");
}

void Registry::renew(BindingRecord& entry, Now now) {
  if (entry.binding.state == BindingState::releasing) return;
  state_->renew_lease(entry, now.steady + policy_.lease);
  if (!entry.lease_expired) return;
  entry.lease_expired = false;
  set_state(entry, BindingState::requested, {Reason::waiting, ""}, now);
  state_->update_unsettled(entry.binding.guid);
}

Result<SyncAnswer> Registry::sync(const Caller& caller, const SyncRequest& request, Now now) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::sync, request.node));
  TRY(check_known_node(request.node));
  const BootIdResult machine = TRY(note_boot_id(request, now));
  note_contact(request.node, now);
  std::set<std::pair<std::string, std::string>> named;
  for (const SyncRequest::AttachmentId& present : request.attachments)
    named.emplace(present.container, present.interface);

  SyncAnswer answer;
  answer.lease = policy_.lease;
  if (machine.ask_again)
    answer.lease = std::clamp(std::chrono::ceil<Duration>(3 * *machine.ask_again), kLeastLease,
                              std::max(policy_.lease, kLeastLease));
  answer.unknown = unknown_ports(request, *state_, policy_);
  for (BindingRecord* const entry : entries_of(*state_, request.node)) {
    const fabric::Attachment& attachment = entry->binding.attachment;
    if (named.erase({attachment.container, attachment.interface}) != 0) {
      renew(*entry, now);
      answer.bindings.push_back(entry->binding);
      continue;
    }
    if (!machine.ends_missing) continue;
    entry->missing_from_sync = true;
    if (entry->lease_expired) expire_binding(*entry, not_named(*entry), now);
    answer.not_named.push_back(entry->binding);
  }
  for (const auto& [container, interface] : named)
    answer.not_bound.push_back({container, interface});
  return answer;
}

Status Registry::expire(Now now) {
  TRY(check_readable());
  while (!state_->leases.empty() && state_->leases.begin()->first <= now.steady) {
    BindingRecord& entry = *state_->leases.begin()->second;
    if (entry.missing_from_sync || policy_.at_lease_end == LeasePolicy::revoke) {
      expire_binding(entry, entry.missing_from_sync ? not_named(entry) : silent(entry), now);
      continue;
    }
    state_->end_lease(entry);
    entry.lease_expired = true;
    set_state(entry, BindingState::unknown, silent(entry), now);
    state_->update_unsettled(entry.binding.guid);
  }
  return ok();
}

void Registry::expire_binding(BindingRecord& entry, Condition why, Now now) {
  expired_.push_back(entry.binding.attachment);
  release(entry, std::move(why), now);
}

std::vector<fabric::Attachment> Registry::take_expired() { return std::exchange(expired_, {}); }

std::optional<Steady> Registry::next_expiry() const {
  if (state_->leases.empty()) return std::nullopt;
  return state_->leases.begin()->first;
}

Result<std::vector<AllocatedGuid>> Registry::allocate(const Caller& caller,
                                                      const AllocateRequest& request) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::allocate_guids, request.node));
  TRY(check_known_node(request.node));
  if (!policy_.guids.can_assign())
    return Error(Code::unsupported,
                 "no range of \"guids\" in ibpod-sm's configuration is for VFs; add one without "
                 "\"chosenBy\"");
  const auto node = state_->nodes.find(request.node);
  if (node != state_->nodes.end() && node->second.forgetting)
    return Error(Code::unavailable, "node " + request.node + " is being forgotten");
  return assign_guid(request);
}

// `fresh`: GUIDs that the same request has been assigned.
Result<ib::Guid> Registry::next_guid(const std::set<ib::Guid>& fresh) const {
  std::optional<ib::Guid> last = fresh.empty() ? state_->last_guid : *fresh.rbegin();
  const size_t tries = policy_.guids_of_nodes.size() + fresh.size() + 1;
  for (size_t i = 0; i < tries; ++i) {
    last = TRY(policy_.guids.next(state_->guids_in_use, last));
    if (!policy_.guids_of_nodes.contains(*last) && !fresh.contains(*last)) return *last;
  }
  return Error(Code::busy,
               "no GUID is free in the pool; add a range to \"guids\" in ibpod-sm's configuration");
}

Result<std::vector<AllocatedGuid>> Registry::assign_guid(const AllocateRequest& request) {
  const std::set<uint32_t> vfs(request.vfs.begin(), request.vfs.end());
  const auto of_node = state_->nodes.find(request.node);
  size_t guids = of_node == state_->nodes.end() ? 0 : of_node->second.guids;
  std::vector<AllocatedGuid> answer;
  std::set<ib::Guid> fresh;
  ib::Guid last;
  for (const uint32_t vf : vfs) {
    const auto present = state_->by_vf.find({request.node, request.pf, vf});
    if (present != state_->by_vf.end()) {
      answer.push_back({vf, present->second});
      continue;
    }
    if (++guids > policy_.limits.guids_of_node)
      return Error(Code::busy, "GUID limit of node " + request.node + " reached (" +
                                   std::to_string(policy_.limits.guids_of_node) + ")");
    last = TRY(next_guid(fresh));
    fresh.insert(last);
    answer.push_back({vf, last});
  }
  if (fresh.empty()) return answer;
  for (const AllocatedGuid& one : answer) {
    if (!fresh.contains(one.guid)) continue;
    state_->assign_guid(one.guid, {request.node, request.pf, one.vf});
    stage(store::RecordKind::guid, one.guid.text());
  }
  state_->last_guid = last;
  stage(store::RecordKind::range, "guids");
  return answer;
}

void Registry::note_contact(const std::string& node, Now now) {
  const auto found = state_->nodes.find(node);
  if (found == state_->nodes.end()) return;
  found->second.last_contact = now.steady;
  found->second.last_contact_wall = now.wall;
}

// If a live node is forgotten, its pods lose their partitions, and its GUIDs may come to a second
// port.
Status Registry::check_silent(const std::string& name, const NodeRecord& node, Now now) const {
  if (node.forgetting || (node.bindings == 0 && node.guids == 0)) return ok();
  const Steady heard = node.last_contact.value_or(loaded_);
  if (now.steady - heard >= policy_.lease) return ok();
  const auto seconds = [](auto time) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
  };
  const std::string why =
      node.last_contact ? " is alive: its last call was " + seconds(now.steady - heard) + " ago"
                        : " may be alive: ibpod-sm started " + seconds(now.steady - heard) +
                              " ago and has had no call from it yet";
  return Error(
      Code::busy,
      "node " + name + why + ". Forgetting it would take its " + std::to_string(node.bindings) +
          " bindings from pods that may be running, and assign its " + std::to_string(node.guids) +
          " GUIDs to other nodes while its VFs still have them. Drain the node, stop its "
          "agent, and try again in " +
          seconds(heard + policy_.lease - now.steady) +
          "; or use --force now if its devices are not in use");
}

Result<fabricapi::Node> Registry::forget(const Caller& caller,
                                         const fabricapi::ForgetRequest& request, Now now) {
  TRY(check_readable());
  TRY(api::authorize(caller, api::Call::forget_node));
  const std::string& node = request.node;
  const auto found = state_->nodes.find(node);
  if (found == state_->nodes.end())
    return Error(Code::not_found, "there is no node " + node.substr(0, 253));
  if (!request.force) TRY(check_silent(node, found->second, now));
  found->second.forgetting = true;
  stage(store::RecordKind::node, node);
  for (BindingRecord* const entry : entries_of(*state_, node))
    release(*entry, {Reason::waiting, ""}, now);
  fabricapi::Node forgotten = *this->node(node);
  finish_forgetting(node);
  if (!state_->nodes.contains(node)) forgotten.guids = 0;
  return forgotten;
}

void Registry::finish_forgetting(const std::string& node) {
  const auto found = state_->nodes.find(node);
  if (found == state_->nodes.end() || !found->second.forgetting || found->second.bindings != 0)
    return;
  for (auto slot = state_->by_vf.lower_bound({node, "", 0});
       slot != state_->by_vf.end() && slot->first.node == node; ++slot)
    stage(store::RecordKind::guid, slot->second.text());
  stage(store::RecordKind::node, node);
  const std::string name = node;  // `node` may belong to the removed record
  state_->remove_node(name);
}

}  // namespace ibpod::sm::registry
