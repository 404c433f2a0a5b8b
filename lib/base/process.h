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
  std::map<std::string, std::string> environment;  // all of it: nothing is inherited
  std::string input;                               // its standard input
};

struct Finished {
  int exit_code = 0;  // 128 + signal if a signal ended it
  std::string output;
  std::string errors;
};

// Runs a program until it ends or the deadline kills it (unavailable). It dies with us
// (PR_SET_PDEATHSIG), so that nothing it does can come after whoever cleans up behind us.
// Call it from the thread that lives longest: the signal is tied to the thread.
Result<Finished> run(const Command& command, Deadline deadline);

}  // namespace ibpod
