// Keeps the memory of a process that holds secrets out of core dumps.
#pragma once

namespace ibpod {

// For this process: no core dump, and no other process of the same user may attach to it (root, by
// CAP_SYS_PTRACE, may). The programs that it starts make no core files; a handler in
// kernel.core_pattern that ignores RLIMIT_CORE still gets theirs. Neither can fail: a limit may
// always be lowered.
void forbid_core_dumps();

}  // namespace ibpod
