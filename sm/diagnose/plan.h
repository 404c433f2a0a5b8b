// Plans: the effect of a change of the partitions on the P_Key tables of a subnet. Pure functions.
#pragma once

#include "lib/base/clock.h"
#include "lib/fabricapi/fabric.h"
#include "sm/diagnose/fabric_snapshot.h"

#include <vector>

namespace ibpod::sm::diagnose {

struct PlanOptions {
  Duration last_sweep{};  // 0: not known, or less than a millisecond
  bool writes = true;     // false: the engine observes, and ibpod-sm does not make the change
};

// Plans the change from the partitions of `now` to `after`; both are as OpenSM gets them
// (as_written() in sm/opensm/partitions_file.h). The plan has the ports whose desired keys change,
// by GUID. If a port's table is known and large enough, keys that stay and the key of index 0 have
// an index in the text of `after`; the subnet manager chooses the index of the others. If the table
// is not known, `before` is empty. `packets`: the least number of table blocks to write.
fabricapi::Plan plan_change(const std::vector<fabric::PartitionDefinition>& after,
                            const FabricSnapshot& now, const PlanOptions& terms);

// Plans what is still to be written: the ports whose table, or switch port's table, differs from
// the partitions of `now`.
fabricapi::Plan plan_pending(const FabricSnapshot& now, const PlanOptions& terms);

}  // namespace ibpod::sm::diagnose
