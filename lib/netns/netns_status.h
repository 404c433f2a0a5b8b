// What a path that once led to a network namespace leads to now.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <string_view>

namespace ibpod::netns {

enum class NetnsStatus {
  same,     // to the same namespace
  gone,     // to nothing any more, or to another namespace
  unclear,  // to a file that is no namespace, or not even its folder is there
};
std::string_view name(NetnsStatus status);

// Looks at the path in a mount namespace (lib/base/mount_namespace.h; empty: the caller's own).
// Names are often bind mounts on empty files: a mount namespace that the mount has not reached
// shows the empty file, or lacks the folder, while the namespace lives. That is unclear. So is the
// file in the host's mount namespace, whose runtime was killed between unmounting and removing it,
// until the runtime comes back to it. Below /proc only /proc itself has to be there: the folder of
// a namespace's file goes with its process.
// invalid where the path is not absolute. Any other error says nothing about the namespace.
Result<NetnsStatus> netns_status(const Path& path, const Identity& identity,
                                 const Path& mount_namespace);

}  // namespace ibpod::netns
