// check_state_lost(): detects a lost or emptied database by what the subnet manager was given and
// still has. With an empty database all pods would lose their partitions.
#pragma once

#include "sm/opensm/opensm.h"
#include "sm/state/store.h"
#include "sm/ufm/settings.h"

namespace ibpod::sm {

// invalid, with the remedy, if the database was lost: partitions.conf has partitions. `database`:
// the store's file.
Status check_state_lost(state::Store& store, const Path& database,
                        const opensm::OpenSmEngineSettings& settings);
// The same by the record of the members in UFM; and the errors of that (ufm::WrittenMembers).
Status check_state_lost(state::Store& store, const Path& database,
                        const ufm::EngineSettings& settings);

}  // namespace ibpod::sm
