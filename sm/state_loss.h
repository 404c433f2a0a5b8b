// check_state_lost(): detects a lost or emptied database by a partitions.conf that still has
// partitions. With an empty database all pods would lose their partitions.
#pragma once

#include "sm/opensm/opensm.h"
#include "sm/state/store.h"

namespace ibpod::sm {

// invalid, with the remedy, if the database was lost. `database`: the store's file.
Status check_state_lost(state::Store& store, const Path& database,
                        const opensm::OpenSmEngineSettings& settings);

}  // namespace ibpod::sm
