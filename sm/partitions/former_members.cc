#include "sm/partitions/former_members.h"

namespace ibpod::sm::partitions {

using state::PartitionRecord;

void note_left(state::Journal& journal, PartitionRecord& record, ib::Guid guid) {
  journal.state().set_former_member(record, guid, false);
  record.never_seen.erase(guid);
  journal.staged().add(record);
}

void note_left_all(state::Journal& journal, ib::Guid guid, fabric::Proof proof) {
  const std::set<PartitionRecord*> leaving = journal.state().port(guid).former_member_of;
  for (PartitionRecord* const record : leaving) {
    if (!satisfies(proof, record->partition.proof)) continue;
    note_left(journal, *record, guid);
    remove_if_left(journal, *record);
  }
}

void remove_if_left(state::Journal& journal, PartitionRecord& record) {
  if (!record.deleting() || !record.swept || !record.former_members.empty()) return;
  journal.staged().note_conflict_freed();
  journal.staged().add(record);
  journal.state().remove(record);
}

}  // namespace ibpod::sm::partitions
