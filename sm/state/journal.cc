#include "sm/state/journal.h"

#include "sm/state/read_state.h"

#include <utility>

namespace ibpod::sm::state {

using fabric::BindingState;

Journal::Journal(Store& store, Policy policy)
    : store_(store), policy_(std::move(policy)), state_(std::make_unique<State>()) {
  for (const auto& [node, given] : policy_.nodes) {
    policy_.guids_of_nodes.insert(given.guids.begin(), given.guids.end());
    policy_.guids_of_nodes.insert(given.pfs.begin(), given.pfs.end());
  }
}

Result<std::unique_ptr<Journal>> Journal::load(Store& store, Policy policy, Now now) {
  TRY(check(policy));
  std::unique_ptr<Journal> journal(new Journal(store, std::move(policy)));
  journal->state_ = TRY(read_state(store, journal->policy_));
  journal->loaded_ = now.steady;
  journal->resume(now);
  return journal;
}

// Continues releases and deletions that a restart has interrupted.
void Journal::resume(Now now) {
  std::vector<ib::Guid> guids;
  for (const auto& [guid, port] : records().ports) guids.push_back(guid);
  for (const ib::Guid guid : guids) {
    // For ports without keys, too: earlier observations do not count.
    state_->port(guid).changed_in = version_;
    state_->refresh(guid, version_);
  }
  state_->for_each_partition([this](PartitionRecord& record) { record.version = version_; });
  state_->for_each_binding([&](BindingRecord& entry) {
    if (entry.binding.state != BindingState::releasing)
      state_->renew_lease(entry, now.steady + policy_.lease);
  });
  std::vector<std::string> forgetting;
  for (const auto& [name, node] : records().nodes) {
    state_->node(name).boot_ids = BootIdTracker(node.boot_ids.boot(), now.steady);
    if (node.forgetting) forgetting.push_back(name);
  }
  for (const std::string& name : forgetting) remove_if_forgotten(name);
}

Status Journal::check_readable() const {
  if (state_readable_) return ok();
  return Error(Code::unavailable,
               "the store could not be read after a failed write; see the log of ibpod-sm");
}

CommitResult Journal::commit(Now now) {
  CommitResult result;
  result.expired = staged_.take_expired();
  result.wrote = !staged_.empty();
  if (!state_readable_) {
    result.status = reload(now);
    return result;
  }
  if (!result.wrote) return result;
  result.status = write();
  if (result.status) return result;
  const Status read = reload(now);
  if (!read) result.status = std::move(result.status).error().also(read.error());
  return result;
}

Status Journal::write() {
  TRY(store_.commit(staged_.to_write(records())));
  staged_.clear();
  return ok();
}

Status Journal::reload(Now now) {
  staged_.clear();
  Result<std::unique_ptr<State>> read = read_state(store_, policy_);
  state_readable_ = read.ok();
  if (!read) return std::move(read).error();
  const std::unique_ptr<State> before = std::exchange(state_, std::move(*read));
  ++version_;
  resume(now);
  for (const BindingRecord* const entry : state_->keep_observations(before->records()))
    staged_.note_changed(*entry);
  for (const auto& [attachment, entry] : before->records().bindings)
    if (records().find_binding(attachment) == nullptr) staged_.note_removed(entry.binding);
  return ok();
}

std::vector<fabricapi::BindingChange> Journal::take_changes() {
  if (!state_readable_) return {};
  return staged_.take_bindings(records());
}

void Journal::refresh(ib::Guid guid) {
  if (state_->refresh(guid, version_ + 1)) ++version_;
}

void Journal::set_status(BindingRecord& entry, BindingState state, fabric::Condition condition,
                         Now now) {
  fabric::Binding& binding = entry.binding;
  const bool moves = binding.state != state;
  if (!moves && binding.condition == condition) return;
  if (moves) binding.changed = now.wall;
  binding.state = state;
  binding.condition = std::move(condition);
  if (state != BindingState::verified) {
    binding.proof = fabric::Proof::none;
    binding.enforcement = fabric::Enforcement::unknown;
  }
  staged_.note_changed(entry);
}

void Journal::remove(BindingRecord& entry, Now now) {
  staged_.note_conflict_freed();
  set_status(entry, BindingState::released, {}, now);
  staged_.add(entry);
  const fabric::Binding gone = entry.binding;
  state_->remove(entry, now.steady);
  staged_.note_removed(gone);
  refresh(gone.guid);
  remove_if_forgotten(gone.attachment.node);
}

void Journal::remove_if_forgotten(const std::string& node) {
  const NodeRecord* const found = records().find_node(node);
  if (found == nullptr || !found->forgetting || found->bindings != 0) return;
  const auto& by_vf = records().guids.by_vf;
  for (auto slot = by_vf.lower_bound({node, "", 0});
       slot != by_vf.end() && slot->first.node == node; ++slot)
    staged_.add(RecordKind::guid, slot->second.text());
  staged_.add(RecordKind::node, node);
  const std::string name = node;  // `node` may belong to the removed record
  state_->remove_node(name);
}

}  // namespace ibpod::sm::state
