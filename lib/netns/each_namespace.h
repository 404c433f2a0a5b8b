// Finds every network namespace of this node, with or without a path.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <functional>
#include <optional>

namespace ibpod::netns {

// Visits a namespace. True ends the search.
using NamespaceVisitor = std::function<Result<bool>(NetNs)>;

// Visits each network namespace once and keeps none open: those of all threads, of their
// descriptors (of a namespace, or of a socket in it), and of the mounts in any of their mount
// namespaces. Returns the first thing that could not be searched: a thread's own descriptors before
// Linux 6.9, a mount that another one covers, all that is left at the deadline. Threads that end
// meanwhile do not count. An Error is the visitor's, or /proc cannot be listed.
// Not found, and not reported: a mapped socket, a descriptor in transit through a Unix socket or in
// an io_uring, a mount in a detached tree or in a mount namespace without a process, and what moves
// to a namespace that was already visited. Needs CAP_SYS_PTRACE and the host's /proc.
Result<std::optional<Error>> each_namespace(const NamespaceVisitor& visit, Deadline deadline,
                                            const Path& proc = "/proc");

}  // namespace ibpod::netns
