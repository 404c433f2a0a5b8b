#include "lib/base/core_dumps.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod {
namespace {

// In a child: the process of the tests is not to lose its own.
TEST_CASE("after it there is no core dump, and no way back") {
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_core_dumps();
    rlimit limit{1, 1};
    const bool none = ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0;
    ::_exit(none && ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace ibpod
