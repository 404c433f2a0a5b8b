// Partitions in the form that the subnet manager gets.
#pragma once

#include "sm/state/policy.h"
#include "sm/state/records.h"

namespace ibpod::sm::partitions {

// The partition's definition with its static members and bindings.
fabric::PartitionDefinition render(const state::PartitionRecord& record,
                                   const state::Policy& policy);
// render() after a change to `partition`, which has its P_Key: members by bindings stay. `record`
// null: the partition does not exist yet.
fabric::PartitionDefinition render_after(const state::PartitionRecord* record,
                                         const fabric::Partition& partition,
                                         const state::Policy& policy);

}  // namespace ibpod::sm::partitions
