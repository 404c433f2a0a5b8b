// Reads all that has been promised.
#pragma once

#include "sm/registry/state.h"
#include "sm/registry/policy.h"
#include "sm/store/store.h"

#include <memory>

namespace ibpod::sm {

// invalid, naming what, where a value cannot be read, where values do not fit each other, or where
// a live partition's P_Key is in no range. No port has been told anything, and no lease runs.
Result<std::unique_ptr<Book>> read_book(Store& store, const Policy& policy);

}  // namespace ibpod::sm
