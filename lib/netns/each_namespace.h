// Every network namespace that something on this node leads to, with or without a path.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <functional>
#include <optional>

namespace ibpod::netns {

// Looks at a namespace; true: it was the last that is wanted.
using NamespaceVisitor = std::function<Result<bool>(NetNs)>;

// Shows `look` each of them once, and holds none of them open: the namespaces of all threads, those
// that their descriptors lead to (of a namespace, or of a socket in it), and those that are mounted
// in a mount namespace of any of them. Returns the first thing that could not be looked at: a
// thread's own descriptors before Linux 6.9, a mount that another one covers, all that is left at
// the deadline. Threads that end meanwhile are no gap. An error is `look`'s, or says that /proc
// cannot be listed.
// What is held by nothing else cannot be found, and is no gap: a mapped socket, a descriptor on its
// way through a unix socket or in an io_uring, a mount in a tree that is not attached or in a mount
// namespace that nobody is in. Nor is what moves to a namespace that was looked at before.
// CAP_SYS_PTRACE and the host's /proc are needed to see all.
Result<std::optional<Error>> each_namespace(const NamespaceVisitor& visit, Deadline deadline,
                                            const Path& proc = "/proc");

}  // namespace ibpod::netns
