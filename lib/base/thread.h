// Runs a piece of work on a thread of its own, for what the caller's own thread must not become.
#pragma once

#include "lib/base/result.h"

#include <functional>

namespace ibpod {

// Runs `work` on a short-lived thread and waits for it. A thread that cannot be had is an error
// like any other, and not the end of whoever has begun something that has to be undone.
Status run_on_thread(const std::function<Status()>& work);

}  // namespace ibpod
