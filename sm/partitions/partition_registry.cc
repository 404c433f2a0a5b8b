#include "sm/partitions/partition_registry.h"

#include "sm/partitions/former_members.h"
#include "sm/partitions/rendering.h"

namespace ibpod::sm::partitions {

using fabric::Partition;
using fabric::PartitionStatus;
using state::Now;
using state::PartitionRecord;

PartitionRegistry::PartitionRegistry(state::Journal& journal)
    : journal_(journal),
      view_(journal),
      admission_(journal),
      editor_(journal, admission_),
      declarations_({journal, view_, admission_, editor_}) {}

Result<PartitionStatus> PartitionRegistry::create(const Partition& partition) {
  TRY(journal_.check_readable());
  const PartitionRecord* const made =
      TRY(editor_.create(partition).during("partition " + partition.name));
  return view_.status(*made);
}

Result<PartitionStatus> PartitionRegistry::update(const Partition& partition, Now now) {
  TRY(journal_.check_readable());
  PartitionRecord* const record = journal_.state().find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  TRY(editor_.update(*record, partition, now).during("partition " + partition.name));
  return view_.status(*record);
}

Result<PartitionStatus> PartitionRegistry::remove(const std::string& name) {
  TRY(journal_.check_readable());
  PartitionRecord* const record = journal_.state().find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(editor_.begin_delete(*record).during("partition " + name));
  return view_.status(*record);
}

Result<PartitionStatus> PartitionRegistry::forget_ports(const std::string& name,
                                                        const HoldsKey& holds) {
  TRY(remove(name));
  PartitionRecord& record = *journal_.state().find_partition(name);
  const std::set<ib::Guid> leaving = record.former_members;
  for (const ib::Guid guid : leaving)
    if (!holds(guid, *record.partition.pkey)) {
      note_left(journal_, record, guid);
      journal_.refresh(guid);
    }
  PartitionStatus left = view_.status(record);
  remove_if_left(journal_, record);
  // As `partition list` shows it: the deletion waits for nothing more.
  if (records().find_partition(name) == nullptr) left.condition = {};
  return left;
}

Result<Definitions> PartitionRegistry::after_create(const Partition& partition) const {
  TRY(journal_.check_readable());
  const Partition made = TRY(admission_.admit_new(partition).during("partition " + partition.name));
  return view_.definitions_with(render_after(nullptr, made, journal_.policy()));
}

Result<Definitions> PartitionRegistry::after_update(const Partition& partition) const {
  TRY(journal_.check_readable());
  const PartitionRecord* const record = records().find_partition(partition.name);
  TRY(check_administered(record, partition.name));
  const Partition changed =
      TRY(admission_.admit_change(*record, partition).during("partition " + partition.name));
  return view_.definitions_with(render_after(record, changed, journal_.policy()));
}

Result<Definitions> PartitionRegistry::after_remove(const std::string& name) const {
  TRY(journal_.check_readable());
  const PartitionRecord* const record = records().find_partition(name);
  TRY(check_administered(record, name));
  if (!record->deleting()) TRY(check_unused(*record).during("partition " + name));
  return view_.definitions_without(name);
}

}  // namespace ibpod::sm::partitions
