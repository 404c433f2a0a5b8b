#include "lib/netns/netns.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::netns {
namespace {

TEST_CASE("the thread's own namespace can be opened") {
  CHECK(NetNs::current().ok());
  CHECK(NetNs::open("/proc/self/ns/net").ok());
}

TEST_CASE("a path that is not there is not found") {
  const TempFolder folder;
  CHECK(NetNs::open(folder.path() / "gone").error().code() == Code::not_found);
}

TEST_CASE("the file that a removed bind mount leaves behind is no namespace any more") {
  const TempFolder folder;
  const auto left = NetNs::open(folder.write("pod1", ""));
  REQUIRE(!left);
  CHECK(left.error().code() == Code::not_found);
}

TEST_CASE("a namespace of another kind is refused") {
  const auto other = NetNs::open("/proc/self/ns/uts");
  REQUIRE(!other);
  CHECK(other.error().code() == Code::invalid);
}

}  // namespace
}  // namespace ibpod::netns
