// Tells if a path still leads to the network namespace that it once led to.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

namespace ibpod::netns {

enum class NetnsStatus {
  same,     // to the same namespace
  gone,     // to another namespace, or it no longer exists
  unclear,  // to a file that is not a namespace, or its folder is missing too
};

// Looks up the path in a mount namespace (lib/base/run_on_thread.h; empty: the caller's own).
// Paths are often bind mounts on empty files: a mount namespace that the mount has not reached
// shows the empty file, or has no folder, while the namespace lives. That is unclear. So is the
// file whose runtime was killed between unmounting and removing it. Below /proc only /proc itself
// must exist: the folder of a namespace's file goes with its process. invalid if the path is not
// absolute. Any other error says nothing about the namespace.
Result<NetnsStatus> netns_status(const Path& path, const Identity& identity,
                                 const Path& mount_namespace);

}  // namespace ibpod::netns
