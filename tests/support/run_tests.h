// run_tests(): what the main() of a test program does; and how a test case says that it cannot run
// on this machine.
#pragma once

#include <string>

namespace ibpod {

// The exit code of a program with a skipped test case, which ctest reports as skipped.
inline constexpr int kSkipped = 77;

// Runs the test cases that the arguments choose. Not 0 if one of them fails, or if they choose
// none: a filter that no test case has would pass for ever. If no case fails and one was skipped,
// it prints the reason as its last line and returns kSkipped.
int run_tests(int count, char** arguments);

// Skips the running test case, which has to return. `reason` is one line.
void skip_case(const std::string& reason);
// Returns whether this process is root. If it is not, the test case is skipped with the reason
// "only root can ACTION".
bool root_can(const std::string& action);

}  // namespace ibpod
