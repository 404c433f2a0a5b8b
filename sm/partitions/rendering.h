// Partitions as the subnet manager is given them.
#pragma once

#include "sm/state/policy.h"
#include "sm/state/records.h"

namespace ibpod::sm::partitions {

// The definition of the partition, with the static members and the bindings that it has.
fabric::PartitionDefinition render(const state::PartitionRecord& record,
                                   const state::Policy& policy);
// The same after a change to `partition`, which has its P_Key: members by bindings stay. `record`
// null: the partition does not exist yet.
fabric::PartitionDefinition render_after(const state::PartitionRecord* record,
                                         const fabric::Partition& partition,
                                         const state::Policy& policy);

}  // namespace ibpod::sm::partitions
