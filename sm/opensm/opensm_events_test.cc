#include "sm/opensm/opensm_events.h"

#include "tests/support/temp_folder.h"

#include <fstream>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

// A wait that nothing ends fails by the timeout of the test.
TEST_CASE("a wait ends by a ring or a change of a file before it, by a process, and by a time") {
  const TempFolder folder;
  const Path file = folder.path() / "file";
  const OpensmEvents events = OpensmEvents::watch({file}).value();
  events.ring();
  events.wait(-1, std::nullopt);
  std::ofstream(file) << "a";
  events.wait(-1, std::nullopt);
  const Wake ended = Wake::open().value();
  ended.ring();
  events.wait(ended.fd(), std::nullopt);
  events.wait(-1, std::chrono::steady_clock::now() - std::chrono::hours(1));
}

TEST_CASE("a folder that is missing cannot be watched") {
  const TempFolder folder;
  CHECK(!OpensmEvents::watch({folder.path() / "missing" / "file"}));
}

}  // namespace
}  // namespace ibpod::sm::opensm
