// A database without a promise beside a partitions.conf that keeps some: it has been lost, or
// emptied. Begun again, all pods would lose their partitions.
#pragma once

#include "sm/opensm/opensm.h"
#include "sm/state/store.h"

namespace ibpod::sm {

// invalid, with what to do, where that is so. `database`: the store's file.
Status check_state_lost(state::Store& store, const Path& database,
                        const opensm::OpenSmEngineSettings& settings);

}  // namespace ibpod::sm
