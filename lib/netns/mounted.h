// Opens network namespaces that are mounted in the mount namespace of an untrusted process.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace ibpod::netns {

// The inode number of a namespace link, "net:[4026531840]"; nothing for any other text.
std::optional<ino_t> inode_of(std::string_view link);

struct MountedNamespace {
  ino_t inode = 0;
  std::string point;  // relative to the root of the process with these mounts
};
// Parses the text of /proc/PID/mountinfo.
std::vector<MountedNamespace> mounted_namespaces(const std::string& mountinfo);

// Opens the namespace that is mounted at `point`, below `root`. Nothing if another mount covers it.
// Follows no link of the process and opens nothing but a namespace.
Result<std::optional<NetNs>> open_mounted(const Fd& root, const std::string& point);

}  // namespace ibpod::netns
