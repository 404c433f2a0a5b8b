// The cgroup of a process, its systemd unit and its memory limit (cgroup v2, cgroups(7)).
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace ibpod::systemd {

// The process's cgroup relative to our cgroup namespace: "/system.slice/x.service". unsupported if
// /proc/PID/cgroup has no entry of version 2.
Result<std::string> cgroup_of(pid_t pid, const Path& proc = "/proc");

// True if `inner` is `outer` or below it, so that a limit of `outer` applies.
bool is_within(std::string_view inner, std::string_view outer);

// A systemd service: "x.service" and its slice. Nothing for other cgroups.
struct ServiceUnit {
  std::string name;
  std::string slice;
  bool operator==(const ServiceUnit&) const = default;
};
std::optional<ServiceUnit> service_of(std::string_view cgroup);

// memory.max of the cgroup in bytes; nothing if it has none or cannot be read.
std::optional<uint64_t> memory_limit(const std::string& cgroup,
                                     const Path& mount = "/sys/fs/cgroup");

}  // namespace ibpod::systemd
