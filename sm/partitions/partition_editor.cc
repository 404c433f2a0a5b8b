#include "sm/partitions/partition_editor.h"

#include "sm/partitions/rendering.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::partitions {
namespace {

using fabric::BindingState;
using fabric::Partition;
using fabric::PartitionState;
using fabric::Reason;
using fabric::StaticMember;
using state::BindingRecord;
using state::Now;
using state::PartitionRecord;

bool has(const std::vector<StaticMember>& members, ib::Guid guid) {
  return std::any_of(members.begin(), members.end(),
                     [&](const StaticMember& member) { return member.guid == guid; });
}

}  // namespace

Result<PartitionRecord*> PartitionEditor::create(const Partition& desired) {
  Partition partition = TRY(admission_.admit_new(desired));
  if (!desired.pkey) {
    journal_.state().set_last_pkey(partition.pkey->partition());
    journal_.staged().add(state::RecordKind::range, "pkeys");
  }
  PartitionRecord& record = journal_.state().add(std::move(partition));
  record.version = journal_.next_version();
  record.condition = {Reason::waiting, ""};
  refresh_members(record, {});
  journal_.staged().add(record);
  return &record;
}

Status PartitionEditor::update(PartitionRecord& record, const Partition& desired, Now now) {
  Partition changed = TRY(admission_.admit_change(record, desired));
  if (changed == record.partition) return ok();
  journal_.staged().note_conflict_freed();
  const bool moves = changed.index0 != record.partition.index0;
  const fabric::PartitionDefinition before = render(record, journal_.policy());
  std::vector<StaticMember> members = std::exchange(changed.members, record.partition.members);
  const std::vector<StaticMember> former = record.partition.members;
  record.partition = std::move(changed);
  journal_.state().set_members(record, std::move(members));
  refresh_members(record, former);
  record.rendered.reset();
  if (render(record, journal_.policy()) != before) definition_changed(record);
  if (moves) touch_members(record);
  require_proof(record, now);
  journal_.staged().add(record);
  return ok();
}

void PartitionEditor::definition_changed(PartitionRecord& record) {
  record.version = journal_.next_version();
  record.swept = false;
  record.rendered.reset();
  if (record.state == PartitionState::ready) {
    record.state = PartitionState::provisioning;
    record.condition = {Reason::waiting, ""};
  }
}

// The port keeps the key, but at another index.
void PartitionEditor::touch_members(const PartitionRecord& record) {
  for (const auto& [guid, member] : record.engine_members)
    journal_.state().port(guid).changed_in = journal_.version();
}

void PartitionEditor::refresh_members(PartitionRecord& record,
                                      const std::vector<StaticMember>& former) {
  for (const StaticMember& member : former) {
    if (has(record.partition.members, member.guid)) continue;
    journal_.state().set_former_member(record, member.guid, true);
    journal_.refresh(member.guid);
  }
  for (const StaticMember& member : record.partition.members) {
    if (!has(former, member.guid) && !record.former_members.contains(member.guid))
      record.never_seen.insert(member.guid);
    journal_.state().set_former_member(record, member.guid, false);
    journal_.refresh(member.guid);
  }
}

void PartitionEditor::require_proof(PartitionRecord& record, Now now) {
  for (const BindingRecord* const known : record.bindings) {
    if (known->binding.state != BindingState::verified ||
        satisfies(known->binding.proof, record.partition.proof))
      continue;
    BindingRecord& entry = *journal_.state().find_binding(known->binding.attachment);
    journal_.set_status(entry, BindingState::written, {Reason::waiting, ""}, now);
    journal_.state().update_unsettled(entry.binding.guid);
  }
}

Status PartitionEditor::begin_delete(PartitionRecord& record) {
  TRY(check_unused(record));
  journal_.staged().note_conflict_freed();
  record.state = PartitionState::deleting;
  record.declared = false;
  const std::vector<StaticMember> former = record.partition.members;
  journal_.state().set_members(record, {});
  refresh_members(record, former);
  definition_changed(record);
  journal_.staged().add(record);
  return ok();
}

}  // namespace ibpod::sm::partitions
