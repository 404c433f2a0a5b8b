// What another process' thread has open.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <sys/types.h>

namespace ibpod::netns {

// Its descriptors can be taken through this. A thread that does not lead its process can be opened
// since Linux 6.9; before, EINVAL: never
// ENOENT, ESRCH where it has ended.
Result<Fd> open_thread(pid_t process, pid_t thread);

// Whether two threads have one table of descriptors. false, too, where the kernel does not say.
bool share_descriptors(pid_t one, pid_t other);

// The namespace of the thread's socket of that number.
Result<NetNs> namespace_of_socket(const Fd& thread, int number);

}  // namespace ibpod::netns
