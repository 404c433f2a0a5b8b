// Reads the state from the store.
#pragma once

#include "sm/registry/policy.h"
#include "sm/registry/state.h"
#include "sm/store/store.h"

#include <memory>

namespace ibpod::sm::registry {

// invalid, with the record's name, if a value cannot be parsed or contradicts another one, or if
// the P_Key of a partition is in no range. No keys are assigned to ports yet, and no lease runs.
Result<std::unique_ptr<State>> read_state(store::Store& store, const Policy& policy);

}  // namespace ibpod::sm::registry
