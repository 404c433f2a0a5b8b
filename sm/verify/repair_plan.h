// The writes that correct a wrong P_Key table, block by block.
#pragma once

#include "sm/probe/repair.h"
#include "sm/verify/port_observations.h"

#include <vector>

namespace ibpod::sm::verify {

// The table that `finding`, which is wrong, is about: the port's own, or its switch port's. nullptr
// if it was not read.
const ib::PKeyTable* wrong_table(const Observation& observation, const TableFinding& finding);

// The writes that turn `table`, as wrong_table() returned it, into one with exactly the desired
// keys. busy if it has too few entries.
Result<std::vector<probe::Repair>> plan_repairs(ib::Guid port, const ib::PKeyTable& table,
                                                const TableFinding& finding,
                                                const DesiredTable& desired);

// True if the subnet manager has yet to write the port's table: the adapter's initial one is no
// drift. `port`: nullptr if no scan finds it.
bool awaits_sm(const fabric::Port* port, const ib::PKeyTable& table);

}  // namespace ibpod::sm::verify
