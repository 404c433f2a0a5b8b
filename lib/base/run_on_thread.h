// Runs a function on a new thread, so that the caller's thread keeps its namespaces.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <functional>
#include <string_view>

namespace ibpod {

// Runs `work` on a short-lived thread and waits for it. An Error if the thread cannot be started,
// never an exception: the caller may have to undo something.
Status run_on_thread(const std::function<Status()>& work);

// Runs `work` on a short-lived thread that has joined the network namespace `netns` (setns), and
// waits for it. Sockets and mounts that the work opens keep that namespace. `what` names the work
// in errors.
Status run_in_netns(const Fd& netns, std::string_view what, const std::function<Status()>& work);

// Opens a mount namespace by its file, such as /proc/1/ns/mnt for the host's (from a container that
// shares the host's PIDs). Empty: the caller's own, and the descriptor is not valid. denied without
// CAP_SYS_PTRACE if the process has capabilities that the caller lacks.
Result<Fd> open_mount_namespace(const Path& mount_namespace);

// Runs `work` on a short-lived thread in the mount namespace and waits for it; for an empty path it
// runs in the caller's thread. Absolute symbolic links resolve as in that namespace, which a prefix
// such as /proc/1/root does not do (/var/run is such a link on most hosts). Descriptors that the
// work opens stay open. `what` names the work in errors. Needs CAP_SYS_ADMIN and CAP_SYS_CHROOT
// (setns(2)).
Status run_in_mount_namespace(const Path& mount_namespace, std::string_view what,
                              const std::function<Status()>& work);

}  // namespace ibpod
