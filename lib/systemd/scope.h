// Scopes: systemd units for processes that systemd has not started, each with its own cgroup.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"

#include <string>

#include <sys/types.h>

namespace ibpod::systemd {

struct Scope {
  std::string name;  // "x.scope": no unit of that name may exist
  std::string slice;
  std::string description;
  pid_t pid;
};

// Asks systemd to move the process into a new scope, which ends with the process. For root; uses
// the socket of systemctl, as D-Bus may not run. The process is moved shortly after this returns.
// unavailable if systemd refuses or does not answer in time.
Status start_scope(const Scope& scope, Deadline deadline);

}  // namespace ibpod::systemd
