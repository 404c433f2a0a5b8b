// Runs the tests in a fresh network namespace: nothing on the machine is touched.
#include "tests/support/run_tests.h"

#include <cstdio>

#include <sched.h>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  if (::unshare(CLONE_NEWNET) != 0) {
    std::perror("skipped: no network namespace of our own");
    return kSkipped;
  }
  return ibpod::run_tests(argc, argv);
}
