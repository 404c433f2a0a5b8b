// Every network namespace that something on this node leads to, with or without a path.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/netns/netns.h"

#include <optional>
#include <vector>

namespace ibpod::netns {

struct AllNamespaces {
  std::vector<NetNs> found;  // each once
  std::optional<Error> gap;  // the first thing that could not be looked at
};

// The namespaces of all threads, those that their descriptors lead to (of a namespace, or of a
// socket in it), and those that are mounted in any of their mount namespaces. What is held by
// nothing else cannot be found: a mount that another one covers, a mapped socket, a descriptor on
// its way through a unix socket. Processes that end meanwhile are no gap. CAP_SYS_PTRACE and the
// host's /proc are needed to see all. Whoever keeps the answer keeps these namespaces alive.
Result<AllNamespaces> all_namespaces(const Path& proc = "/proc");

}  // namespace ibpod::netns
