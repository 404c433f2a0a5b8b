// Network namespaces that are mounted in a mount namespace, opened past what a process has put in
// the way.
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

// The number in what the kernel calls a network namespace, "net:[4026531840]": its inode's; nothing
// for any other text.
std::optional<ino_t> inode_of(std::string_view link);

struct MountedNamespace {
  ino_t inode = 0;
  std::string point;  // as seen from the root of the process whose mounts these are
};
// By a text as of /proc/PID/mountinfo.
std::vector<MountedNamespace> mounted_namespaces(const std::string& mountinfo);

// Opens what is mounted there, below the root. Nothing where it is no namespace: another mount
// covers it. No link of the process is followed, and nothing but a namespace is opened.
Result<std::optional<NetNs>> open_mounted(const Fd& root, const std::string& point);

}  // namespace ibpod::netns
