// The cgroup of OpenSM: not ours, so that a memory limit of ibpod-sm's never ends OpenSM.
#pragma once

#include "lib/base/result.h"
#include "lib/systemd/cgroup.h"

#include <optional>
#include <string>

#include <sys/types.h>

namespace ibpod::sm::opensm {

// The scope for an OpenSM in the cgroup `theirs`, when ours is `ours`: "UNIT-opensm-PID.scope" in
// our slice, of which there is no other. Nothing when we are no service of systemd's, or when
// OpenSM has a cgroup of its own already.
std::optional<std::string> scope_name(const std::string& ours, const std::string& theirs,
                                      pid_t opensm);

// Sees to it that OpenSM is in another cgroup than this process: when this process is a service of
// systemd's, by a scope. An error, with what follows from it, when both stay in one that has a
// memory limit. Takes a few ms; at most 5 s when systemd does not answer.
Status separate_cgroup(pid_t opensm);

}  // namespace ibpod::sm::opensm
