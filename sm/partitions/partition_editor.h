// PartitionEditor: creates, changes and deletes the partitions of the state, for requests and for
// the declared file. A change gets a new version if the subnet manager must write it.
#pragma once

#include "lib/fabric/partition.h"
#include "sm/partitions/partition_admission.h"
#include "sm/state/journal.h"

#include <vector>

namespace ibpod::sm::partitions {

class PartitionEditor {
 public:
  // Both outlive it.
  PartitionEditor(state::Journal& journal, const PartitionAdmission& admission)
      : journal_(journal), admission_(admission) {}

  // Errors: see PartitionAdmission. After an error nothing has changed.
  Result<state::PartitionRecord*> create(const fabric::Partition& desired);
  // A port that was a member stays known as a former one, as its table may still hold the key. If
  // `proof` becomes stricter, bindings must be verified again.
  Status update(state::PartitionRecord& record, const fabric::Partition& desired, state::Now now);
  // The partition is removed when a sweep has read the version without it, and no port holds its
  // key (former_members.h). busy while a binding uses it.
  Status begin_delete(state::PartitionRecord& record);

 private:
  void definition_changed(state::PartitionRecord& record);
  void touch_members(const state::PartitionRecord& record);
  void refresh_members(state::PartitionRecord& record,
                       const std::vector<fabric::StaticMember>& former);
  void require_proof(state::PartitionRecord& record, state::Now now);

  state::Journal& journal_;
  const PartitionAdmission& admission_;
};

}  // namespace ibpod::sm::partitions
