// What a change of the partitions would do to the P_Key tables of a subnet. Pure: it changes
// nothing and asks nobody.
#pragma once

#include "lib/base/clock.h"
#include "lib/fabricapi/fabric.h"
#include "sm/tables/fabric_snapshot.h"

#include <vector>

namespace ibpod::sm::plan {

struct PlanOptions {
  Duration last_sweep{};  // 0: none has been seen, or it took less than a millisecond
  bool writes = true;     // false: the engine observes, and somebody else makes the change
};

// From the partitions of the evidence to these; both are as the tables come to hold them
// (as_written() in sm/engine/partitions_file.h, where it is OpenSM that is told). In the answer are
// the ports whose wanted keys differ, by GUID. Where a table is known, keys that stay have their
// places in `after`, and the one that has to be at index 0; of the others the subnet manager
// decides, and they have none. Where it is not, `before` is empty and no key has a place; nor has
// one where there are more keys than places. `packets` are the blocks of tables that differ, the
// switch ports' among them, at least.
fabricapi::Plan plan_change(const std::vector<fabric::PartitionDefinition>& after,
                            const tables::FabricSnapshot& now, const PlanOptions& terms);

// From the tables as they are to the partitions of the evidence: ports whose table, or switch
// port's, is not right.
fabricapi::Plan plan_pending(const tables::FabricSnapshot& now, const PlanOptions& terms);

}  // namespace ibpod::sm::plan
