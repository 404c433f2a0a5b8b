// Reads all that has been promised.
#pragma once

#include "sm/registry/policy.h"
#include "sm/registry/state.h"
#include "sm/store/store.h"

#include <memory>

namespace ibpod::sm::registry {

// invalid, naming what, where a value cannot be read, where values do not fit each other, or where
// a live partition's P_Key is in no range. No port has been told anything, and no lease runs.
Result<std::unique_ptr<State>> read_state(store::Store& store, const Policy& policy);

}  // namespace ibpod::sm::registry
