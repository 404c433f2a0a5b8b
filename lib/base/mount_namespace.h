// Runs a piece of work among the files that another process sees.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <functional>
#include <string_view>

namespace ibpod {

// A mount namespace is named by its file, such as /proc/1/ns/mnt for the host's (from a container
// that shares the host's PIDs); empty: the caller's own. The descriptor is not valid for that one.
// denied without CAP_SYS_PTRACE where the process behind it has capabilities that we lack.
Result<Fd> open_mount_namespace(const Path& mount_namespace);

// Runs `work` on a short-lived thread that has joined the mount namespace, and waits for it; for
// the caller's own it runs right here. Paths lead where they lead a process of that namespace, by
// absolute symbolic links too: behind a prefix such as /proc/1/root these would lead back to the
// caller's files (/var/run is such a link on most hosts). What the work opens stays open. `what`
// names the work in errors. Joining takes CAP_SYS_ADMIN and CAP_SYS_CHROOT (setns(2)).
Status run_in_mount_namespace(const Path& mount_namespace, std::string_view what,
                              const std::function<Status()>& work);

}  // namespace ibpod
