// Runs a function in another network namespace; the caller's thread stays in its own.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <functional>

namespace ibpod {

// Runs `work` on a short-lived thread that has joined the network namespace `netns` (setns), and
// waits for it. Sockets and mounts that the work opens keep that namespace. `what` names the work
// in errors.
Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work);

}  // namespace ibpod
