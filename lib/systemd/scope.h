// Scopes: units of systemd's for processes that it has not started, each with a cgroup of its own.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"

#include <string>

#include <sys/types.h>

namespace ibpod::systemd {

struct Scope {
  std::string name;  // "x.scope": no unit of that name may be there
  std::string slice;
  std::string description;
  pid_t pid;
};

// Asks systemd to move the process into a new scope, which goes when the process has ended; for
// root, over the socket that systemctl uses, as there may be no D-Bus daemon. The process is moved
// a moment after this has returned. unavailable when systemd does not answer in time or refuses.
Status start_scope(const Scope& scope, Deadline deadline);

}  // namespace ibpod::systemd
