// Which cgroup a process is in, and what that says of its unit and its memory limit (cgroup v2,
// cgroups(7)).
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace ibpod::systemd {

// From the mount of cgroup v2, as our own cgroup namespace has it: "/system.slice/x.service". From
// /proc/PID/cgroup; unsupported where that has no cgroup of v2.
Result<std::string> cgroup_of(pid_t pid, const Path& proc = "/proc");

// Whether a limit of `outer` counts for what is in `inner`: it is the same, or below it.
bool is_within(std::string_view inner, std::string_view outer);

// A unit of systemd's that is a service, by the cgroup of its processes: "x.service" and the slice
// that it is in; nothing for other cgroups.
struct ServiceUnit {
  std::string name;
  std::string slice;
  bool operator==(const ServiceUnit&) const = default;
};
std::optional<ServiceUnit> service_of(std::string_view cgroup);

// memory.max of the cgroup, in bytes; nothing when it has none, or when that cannot be read.
std::optional<uint64_t> memory_limit(const std::string& cgroup,
                                     const Path& mount = "/sys/fs/cgroup");

}  // namespace ibpod::systemd
