// Keeps the memory of a process that holds secrets out of core dumps.
#pragma once

namespace ibpod {

// Forbids core dumps of this process, and attaching to it by other processes of the same user
// (root, by CAP_SYS_PTRACE, still may). Programs that it starts make no core files; a handler in
// kernel.core_pattern that ignores RLIMIT_CORE still gets theirs. Cannot fail.
void forbid_core_dumps();

}  // namespace ibpod
