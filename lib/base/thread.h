// Runs a function on a new thread, so that the caller's thread keeps its namespaces.
#pragma once

#include "lib/base/result.h"

#include <functional>

namespace ibpod {

// Runs `work` on a short-lived thread and waits for it. An Error if the thread cannot be started,
// never an exception: the caller may have to undo something.
Status run_on_thread(const std::function<Status()>& work);

}  // namespace ibpod
