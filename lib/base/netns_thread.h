// Runs a piece of work inside another network namespace without the caller ever leaving its own.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <functional>

namespace ibpod {

// Runs `work` on a short-lived thread that has joined the network namespace behind `netns` (setns),
// and waits for it. What the work opens there (a socket, a sysfs) keeps that namespace afterwards.
// `what` names the work in errors.
Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work);

}  // namespace ibpod
