// Access to the descriptors of another process's thread.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <sys/types.h>

namespace ibpod::netns {

// Opens a thread, to take its descriptors. Threads other than a process's first need Linux 6.9
// (before: EINVAL). Never ENOENT; ESRCH if it has ended.
Result<Fd> open_thread(pid_t process, pid_t thread);

// True if two threads share one descriptor table; false also if the kernel cannot tell.
bool share_descriptors(pid_t one, pid_t other);

// The network namespace of the socket with this number in the thread.
Result<NetNs> namespace_of_socket(const Fd& thread, int number);

}  // namespace ibpod::netns
