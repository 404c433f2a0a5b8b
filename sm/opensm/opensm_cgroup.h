// OpenSM's own cgroup, so that a memory limit of ibpod-sm never ends OpenSM.
#pragma once

#include "lib/base/result.h"
#include "lib/systemd/cgroup.h"

#include <optional>
#include <string>

#include <sys/types.h>

namespace ibpod::sm::opensm {

// The unique scope name "UNIT-opensm-PID.scope" in our slice, for an OpenSM in the cgroup `theirs`
// when ours is `ours`. Nothing if this process is no service of systemd, or if OpenSM already has
// its own cgroup.
std::optional<std::string> scope_name(const std::string& ours, const std::string& theirs,
                                      pid_t opensm);

// Moves OpenSM to a scope of its own if this process is a service of systemd. An error, with its
// consequence, if both stay in a cgroup with a memory limit. Takes a few ms; at most 5 s if systemd
// does not answer.
Status separate_cgroup(pid_t opensm);

}  // namespace ibpod::sm::opensm
