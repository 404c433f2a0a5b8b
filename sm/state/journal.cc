#include "sm/state/journal.h"

#include "sm/state/names.h"
#include "sm/state/read_state.h"
#include "sm/state/stored.h"

#include <utility>

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;

template <typename Map>
std::optional<std::string> value_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return to_bytes(found->second);
}

}  // namespace

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
  result.expired = std::exchange(expired_, {});
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
  std::vector<RecordChange> changes;
  changes.reserve(staged_.size());
  for (const auto& [kind, key] : staged_) changes.push_back({kind, key, value_of(kind, key)});
  TRY(store_.commit(changes));
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
    note_changed(*entry);
  for (const auto& [attachment, entry] : before->records().bindings)
    if (records().find_binding(attachment) == nullptr) note_removed(entry.binding);
  return ok();
}

std::vector<fabricapi::BindingChange> Journal::take_changes() {
  std::vector<fabricapi::BindingChange> taken;
  if (!state_readable_) return taken;
  for (auto& [attachment, gone] : changes_) {
    if (const BindingRecord* const present = records().find_binding(attachment))
      taken.push_back({present->binding, false});
    else if (gone)
      taken.push_back({*gone, true});
  }
  changes_.clear();
  return taken;
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
  note_changed(entry);
}

void Journal::note_changed(const BindingRecord& entry) {
  changes_[entry.binding.attachment] = std::nullopt;
}

void Journal::note_removed(const fabric::Binding& binding) {
  fabric::Binding gone = binding;
  gone.state = BindingState::released;
  gone.condition = {};
  changes_[binding.attachment] = std::move(gone);
}

void Journal::remove(BindingRecord& entry, Now now) {
  note_conflict_freed();
  set_status(entry, BindingState::released, {}, now);
  stage(entry);
  const fabric::Binding gone = entry.binding;
  state_->remove(entry, now.steady);
  note_removed(gone);
  refresh(gone.guid);
  remove_if_forgotten(gone.attachment.node);
}

void Journal::remove_if_forgotten(const std::string& node) {
  const NodeRecord* const found = records().find_node(node);
  if (found == nullptr || !found->forgetting || found->bindings != 0) return;
  const auto& by_vf = records().guids.by_vf;
  for (auto slot = by_vf.lower_bound({node, "", 0});
       slot != by_vf.end() && slot->first.node == node; ++slot)
    stage(RecordKind::guid, slot->second.text());
  stage(RecordKind::node, node);
  const std::string name = node;  // `node` may belong to the removed record
  state_->remove_node(name);
}

void Journal::stage(RecordKind kind, std::string key) {
  ++staged_changes_;
  staged_.emplace(kind, std::move(key));
}
void Journal::stage(const PartitionRecord& record) {
  stage(RecordKind::partition, record.partition.name);
}
void Journal::stage(const BindingRecord& entry) {
  stage(RecordKind::binding, key_of(entry.binding.attachment));
  note_changed(entry);
}

// The present value of a record; nothing: the record is removed.
std::optional<std::string> Journal::value_of(RecordKind kind, const std::string& key) const {
  const Records& all = records();
  switch (kind) {
    case RecordKind::partition:
      return value_in(all.partitions, key);
    case RecordKind::binding:
      return value_in(all.bindings, attachment_of(key).value());
    case RecordKind::guid:
      return value_in(all.guids.assigned, ib::Guid::parse(key).value());
    case RecordKind::node: {
      const NodeRecord* const found = all.find_node(key);
      const bool kept = found != nullptr && (found->forgetting || !found->pfs.empty());
      return kept ? std::optional(to_bytes(*found)) : std::nullopt;
    }
    case RecordKind::range:
      break;
  }
  if (key == "pkeys") return last_to_bytes(all.last_pkey.value());
  return last_to_bytes(all.guids.last.value().value());
}

}  // namespace ibpod::sm::state
