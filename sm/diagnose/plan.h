// Plans: the effect of a change of partitions on the P_Key tables of a subnet. Pure functions.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/base/clock.h"
#include "sm/diagnose/fabric_snapshot.h"

#include <vector>

namespace ibpod::sm::diagnose {

struct PlanOptions {
  Duration last_sweep{};       // 0: not known, or less than a millisecond
  bool writes = true;          // false: the engine observes, and ibpod-sm does not make the change
  bool follows_sweeps = true;  // false: the engine does not see how long a sweep takes
};

// Plans the change from the partitions of `now` to `after`, both as OpenSM gets them
// (as_written()): the ports whose desired keys change, by GUID. `before` is empty if the table is
// not known. In `after` the subnet manager chooses missing indexes. `packets`: blocks, at least.
v1::PlanResponse plan_change(const std::vector<fabric::PartitionDefinition>& after,
                             const FabricSnapshot& now, const PlanOptions& terms);

// Plans the writes that are still pending: the ports with a table, or switch port's table, that
// differs from the partitions of `now`.
v1::PlanResponse plan_pending(const FabricSnapshot& now, const PlanOptions& terms);

}  // namespace ibpod::sm::diagnose
