#include "sm/state/staged_changes.h"

#include "sm/state/names.h"
#include "sm/state/stored.h"

namespace ibpod::sm::state {
namespace {

template <typename Map>
std::optional<std::string> value_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return to_bytes(found->second);
}

// The present value of a record; nothing: the record is removed.
std::optional<std::string> value_of(const Records& records, RecordKind kind,
                                    const std::string& key) {
  switch (kind) {
    case RecordKind::partition:
      return value_in(records.partitions, key);
    case RecordKind::binding:
      return value_in(records.bindings, attachment_of(key).value());
    case RecordKind::guid:
      return value_in(records.guids.assigned, ib::Guid::parse(key).value());
    case RecordKind::node: {
      const NodeRecord* const found = records.find_node(key);
      const bool kept = found != nullptr && (found->forgetting || !found->pfs.empty());
      return kept ? std::optional(to_bytes(*found)) : std::nullopt;
    }
    case RecordKind::range:
      break;
  }
  if (key == "pkeys") return last_to_bytes(records.last_pkey.value());
  return last_to_bytes(records.guids.last.value().value());
}

}  // namespace

void StagedChanges::add(RecordKind kind, std::string key) {
  ++count_;
  records_.emplace(kind, std::move(key));
}

void StagedChanges::add(const PartitionRecord& record) {
  add(RecordKind::partition, record.partition.name);
}

void StagedChanges::add(const BindingRecord& entry) {
  add(RecordKind::binding, key_of(entry.binding.attachment));
  note_changed(entry);
}

void StagedChanges::note_changed(const BindingRecord& entry) {
  bindings_[entry.binding.attachment] = std::nullopt;
}

void StagedChanges::note_removed(const fabric::Binding& binding) {
  fabric::Binding gone = binding;
  gone.state = fabric::BindingState::released;
  gone.condition = {};
  bindings_[binding.attachment] = std::move(gone);
}

std::vector<RecordChange> StagedChanges::to_write(const Records& records) const {
  std::vector<RecordChange> changes;
  changes.reserve(records_.size());
  for (const auto& [kind, key] : records_)
    changes.push_back({kind, key, value_of(records, kind, key)});
  return changes;
}

std::vector<fabricapi::BindingChange> StagedChanges::take_bindings(const Records& records) {
  std::vector<fabricapi::BindingChange> taken;
  for (auto& [attachment, gone] : bindings_) {
    if (const BindingRecord* const present = records.find_binding(attachment))
      taken.push_back({present->binding, false});
    else if (gone)
      taken.push_back({*gone, true});
  }
  bindings_.clear();
  return taken;
}

}  // namespace ibpod::sm::state
