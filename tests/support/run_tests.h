// run_tests(): what the main() of a test program does.
#pragma once

namespace ibpod {

// Runs the test cases that the arguments choose. Not 0 if one of them fails, or if they choose
// none: a filter that no test case has would pass for ever.
int run_tests(int count, char** arguments);

}  // namespace ibpod
