// Reads the state from the store.
#pragma once

#include "sm/state/policy.h"
#include "sm/state/state.h"
#include "sm/state/store.h"

#include <memory>

namespace ibpod::sm::state {

// invalid, with the record's name, if a value cannot be parsed or contradicts another one, or if
// the P_Key of a partition is in no range. No keys are assigned to ports yet, and no lease runs.
Result<std::unique_ptr<State>> read_state(Store& store, const Policy& policy);

}  // namespace ibpod::sm::state
