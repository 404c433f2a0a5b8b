#include "sm/registry/registry.h"

#include "sm/registry/names.h"
#include "sm/registry/read_state.h"
#include "sm/registry/state.h"
#include "sm/registry/stored.h"

#include <algorithm>

namespace ibpod::sm::registry {
namespace {

using fabric::BindingState;

// Compares what is stored of both, without observations.
bool same_record(const BindingRecord& a, const BindingRecord& b) {
  const auto released = [](const BindingRecord& entry) {
    return entry.binding.state == BindingState::releasing;
  };
  fabric::Binding binding = a.binding;
  binding.state = b.binding.state;
  binding.condition = b.binding.condition;
  binding.proof = b.binding.proof;
  binding.enforcement = b.binding.enforcement;
  binding.changed = b.binding.changed;
  return binding == b.binding && a.pending_removal == b.pending_removal &&
         released(a) == released(b);
}

bool same_engine_members(const PortRecord::EngineMembers& a, const PortRecord::EngineMembers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first->partition.name == other.first->partition.name && one.second == other.second;
  });
}

template <typename Map>
std::optional<std::string> value_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return to_bytes(found->second);
}

}  // namespace

Registry::Registry(store::Store& store, Policy policy)
    : store_(store), policy_(std::move(policy)), state_(std::make_unique<State>()) {
  for (const auto& [node, given] : policy_.nodes) {
    policy_.guids_of_nodes.insert(given.guids.begin(), given.guids.end());
    policy_.guids_of_nodes.insert(given.pfs.begin(), given.pfs.end());
  }
}

Registry::~Registry() = default;

Result<std::unique_ptr<Registry>> Registry::load(store::Store& store, Policy policy, Now now) {
  TRY(check(policy));
  std::unique_ptr<Registry> registry(new Registry(store, std::move(policy)));
  registry->state_ = TRY(read_state(store, registry->policy_));
  registry->loaded_ = now.steady;
  registry->adopt_state(now);
  return registry;
}

// Resumes releases and deletions that a restart has interrupted.
void Registry::adopt_state(Now now) {
  std::vector<ib::Guid> guids;
  for (auto& [guid, port] : state_->ports) {
    port.changed_in = version_;  // also of ports without keys: earlier observations do not count
    guids.push_back(guid);
  }
  for (const ib::Guid guid : guids) state_->refresh(guid, version_);
  for (auto& [name, record] : state_->partitions) record.version = version_;
  for (auto& [attachment, entry] : state_->bindings) renew(entry, now);
  std::vector<std::string> forgetting;
  for (auto& [name, node] : state_->nodes) {
    node.boot_ids = BootIdTracker(node.boot_ids.boot(), now.steady);
    if (node.forgetting) forgetting.push_back(name);
  }
  for (const std::string& name : forgetting) finish_forgetting(name);
}

Status Registry::check_readable() const {
  if (state_readable_) return ok();
  return Error(Code::unavailable,
               "the store could not be read after a failed write; see the log of ibpod-sm");
}

Status Registry::commit(Now now) {
  if (!state_readable_) return reload(now);
  if (staged_.empty()) return ok();
  std::vector<store::RecordChange> changes;
  changes.reserve(staged_.size());
  for (const auto& [kind, key] : staged_) changes.push_back({kind, key, value_of(kind, key)});
  Status done = store_.commit(changes);
  if (done) {
    staged_.clear();
    return done;
  }
  Error failure = std::move(done).error();
  const Status read = reload(now);
  if (!read) return std::move(failure).also(read.error());
  return failure;
}

Status Registry::reload(Now now) {
  staged_.clear();
  Result<std::unique_ptr<State>> read = read_state(store_, policy_);
  state_readable_ = read.ok();
  if (!read) return std::move(read).error();
  const std::unique_ptr<State> before = std::exchange(state_, std::move(*read));
  ++version_;
  adopt_state(now);
  adopt(*before);
  return ok();
}

// Keeps the observations of records that have not changed.
void Registry::adopt(const State& before) {
  for (auto& [name, record] : state_->partitions)
    if (const PartitionRecord* const known = before.find_partition(name)) adopt(record, *known);
  for (auto& [guid, port] : state_->ports) {
    const PortRecord* const known = before.find_port(guid);
    if (known == nullptr) continue;
    if (same_engine_members(known->engine_members, port.engine_members))
      port.changed_in = known->changed_in;
    port.condition = known->condition;
  }
  for (auto& [attachment, entry] : state_->bindings) {
    const auto known = before.bindings.find(attachment);
    if (known != before.bindings.end() && same_record(known->second, entry))
      adopt(entry, known->second);
    else
      changed(entry);
  }
  for (const auto& [attachment, entry] : before.bindings)
    if (!state_->bindings.contains(attachment)) note_removed(entry.binding);
  for (const auto& [name, node] : before.nodes) {
    if (node.last_contact) note_contact(name, {*node.last_contact, *node.last_contact_wall});
    const auto now = state_->nodes.find(name);
    if (now != state_->nodes.end()) now->second.boot_ids = node.boot_ids;
  }
}

void Registry::adopt(PartitionRecord& record, const PartitionRecord& before) {
  if (before.partition != record.partition || before.deleting() != record.deleting()) return;
  record.state = before.state;
  record.condition = before.condition;
  record.version = before.version;
  record.swept = before.swept;
  record.delete_began = before.delete_began;
}

void Registry::adopt(BindingRecord& entry, const BindingRecord& before) {
  entry.binding = before.binding;
  entry.lease_expired = before.lease_expired;
  state_->end_lease(entry);
  if (before.binding.state != BindingState::releasing && !before.lease_expired)
    state_->renew_lease(entry, before.lease_end);
  entry.missing_from_sync = before.missing_from_sync;
  state_->update_unsettled(entry.binding.guid);
}

void Registry::refresh(ib::Guid guid) {
  if (state_->refresh(guid, version_ + 1)) ++version_;
}

void Registry::set_state(BindingRecord& entry, BindingState state, fabric::Condition status,
                         Now now) {
  fabric::Binding& binding = entry.binding;
  const bool moves = binding.state != state;
  if (!moves && binding.condition == status) return;
  if (moves) binding.changed = now.wall;
  binding.state = state;
  binding.condition = std::move(status);
  if (state != BindingState::verified) {
    binding.proof = fabric::Proof::none;
    binding.enforcement = fabric::Enforcement::unknown;
  }
  changed(entry);
}

void Registry::changed(const BindingRecord& entry) {
  changes_[entry.binding.attachment] = std::nullopt;
}

void Registry::note_removed(const fabric::Binding& binding) {
  fabric::Binding gone = binding;
  gone.state = BindingState::released;
  gone.condition = {};
  changes_[binding.attachment] = std::move(gone);
}

void Registry::stage(store::RecordKind kind, std::string key) {
  ++staged_changes_;
  staged_.emplace(kind, std::move(key));
}
void Registry::stage(const PartitionRecord& record) {
  stage(store::RecordKind::partition, record.partition.name);
}
void Registry::stage(const BindingRecord& entry) {
  stage(store::RecordKind::binding, key_of(entry.binding.attachment));
  changed(entry);
}

// The present value of a record; nothing: the record is removed.
std::optional<std::string> Registry::value_of(store::RecordKind kind,
                                              const std::string& key) const {
  switch (kind) {
    case store::RecordKind::partition:
      return value_in(state_->partitions, key);
    case store::RecordKind::binding:
      return value_in(state_->bindings, attachment_of(key).value());
    case store::RecordKind::guid:
      return value_in(state_->assigned_guids, ib::Guid::parse(key).value());
    case store::RecordKind::node: {
      const auto found = state_->nodes.find(key);
      const bool kept =
          found != state_->nodes.end() && (found->second.forgetting || !found->second.pfs.empty());
      return kept ? std::optional(to_bytes(found->second)) : std::nullopt;
    }
    case store::RecordKind::range:
      break;
  }
  if (key == "pkeys") return last_to_bytes(state_->last_pkey.value());
  return last_to_bytes(state_->last_guid.value().value());
}

}  // namespace ibpod::sm::registry
