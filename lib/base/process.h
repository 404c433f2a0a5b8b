// Runs another program to its end.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <map>
#include <string>

namespace ibpod {

struct Command {
  Path program;
  // All of it: nothing is inherited, nor is any descriptor but the standard three.
  std::map<std::string, std::string> environment;
  std::string input;  // its standard input
  // The mount namespace that it runs in, by its file (mount_namespace.h); empty: ours. In another
  // one the program is looked up there, and its working folder is the root.
  Path mount_namespace = {};
};

struct Finished {
  int exit_code = 0;  // 128 + signal if a signal ended it
  std::string output;
  std::string errors;
};

// Runs a program until it ends or the deadline kills it and what it has started (unavailable). What
// it leaves behind when it ends is not waited for. It dies with us (PR_SET_PDEATHSIG), so that
// nothing it does can come after whoever cleans up behind us. Call it from the thread that lives
// longest: the signal is tied to the thread. The errno of a program that cannot be started is kept.
// SIGPIPE is ignored and SIGCHLD at its default from here on.
Result<Finished> run(const Command& command, Deadline deadline);

}  // namespace ibpod
