// Compares the state before and after it was read again.
#include "sm/state/state.h"

#include <algorithm>

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;

// Compares the stored values, without observations.
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

void keep(PartitionRecord& record, const PartitionRecord& before) {
  if (before.partition != record.partition || before.deleting() != record.deleting()) return;
  record.state = before.state;
  record.condition = before.condition;
  record.version = before.version;
  record.swept = before.swept;
  record.delete_began = before.delete_began;
}

void keep(PortRecord& port, const PortRecord& before) {
  if (same_engine_members(before.engine_members, port.engine_members))
    port.changed_in = before.changed_in;
  port.condition = before.condition;
}

void keep(NodeRecord& node, const NodeRecord& before) {
  node.last_contact = before.last_contact;
  node.last_contact_wall = before.last_contact_wall;
  node.boot_ids = before.boot_ids;
}

void keep(State& state, BindingRecord& entry, const BindingRecord& before) {
  entry.binding = before.binding;
  entry.lease_expired = before.lease_expired;
  state.end_lease(entry);
  if (before.binding.state != BindingState::releasing && !before.lease_expired)
    state.renew_lease(entry, before.lease_end);
  entry.missing_from_sync = before.missing_from_sync;
  state.update_unsettled(entry.binding.guid);
}

}  // namespace

std::vector<const BindingRecord*> State::keep_observations(const Records& before) {
  for (auto& [name, record] : records_.partitions)
    if (const PartitionRecord* const known = before.find_partition(name)) keep(record, *known);
  for (auto& [guid, port] : records_.ports)
    if (const PortRecord* const known = before.find_port(guid)) keep(port, *known);
  for (auto& [name, node] : records_.nodes)
    if (const NodeRecord* const known = before.find_node(name)) keep(node, *known);
  records_.guids.released = before.guids.released;
  std::vector<const BindingRecord*> changed;
  for (auto& [attachment, entry] : records_.bindings) {
    const BindingRecord* const known = before.find_binding(attachment);
    if (known != nullptr && same_record(*known, entry))
      keep(*this, entry, *known);
    else
      changed.push_back(&entry);
  }
  return changed;
}

}  // namespace ibpod::sm::state
