// ibpod-sm is killed before each of its steps: each write into the database and partitions.conf,
// each flush and rename, each SIGHUP, each packet that sets something. Behind each of them it comes
// back with all that it had acknowledged, and what was underway is done when it is asked for again.
//   STEPS=all  every step, and every write of which half is done
//   STEPS=N    so many of each (1)
#include "tests/fabric/sm/faults/changes.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("killed at any step of a change, it comes back, and the change is done again") {
  StepFixture fixture;
  kill_in_changes(fixture, [] {});
}

}  // namespace
}  // namespace ibpod
