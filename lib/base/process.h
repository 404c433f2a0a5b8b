// Processes: runs another program to its end, and keeps the memory of this one out of core dumps.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <map>
#include <string>

namespace ibpod {

struct Command {
  Path program;
  // The whole environment. Nothing is inherited, and no descriptor but the standard three.
  std::map<std::string, std::string> environment;
  std::string input;  // its standard input
  // The mount namespace to run in, by its file (run_on_thread.h); empty: ours. In another one the
  // program is looked up there, and the working folder is the root.
  Path mount_namespace = {};
};

struct Finished {
  int exit_code = 0;  // 128 + signal if a signal ended it
  std::string output;
  std::string errors;
};

// Runs a program until it ends, or kills it and its children at the deadline (unavailable). Does
// not wait for children that outlive it. The program dies with the calling *thread*
// (PR_SET_PDEATHSIG), so that it changes nothing after the caller's cleanup: call this from the
// thread that lives longest. The deadline begins once the program has been read: a file system that
// hangs there holds the caller. A failed start keeps its errno. From here on SIGPIPE is ignored and
// SIGCHLD has its default action.
Result<Finished> run(const Command& command, Deadline deadline);

// Forbids core dumps of this process, and attaching to it by other processes of the same user
// (root, by CAP_SYS_PTRACE, still may). Programs that it starts make no core files; a handler in
// kernel.core_pattern that ignores RLIMIT_CORE still gets theirs. Cannot fail.
void forbid_core_dumps();

}  // namespace ibpod
