#include "lib/node/pod_sysfs.h"

#include "lib/netns/netns.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

TEST_CASE("a pod's namespace that is gone, or is another one by now, is not found") {
  const TempFolder folder;
  CHECK(open_pod_sysfs({folder.path() / "gone", {}}, "").error().code() == Code::not_found);
  const Path own = "/proc/thread-self/ns/net";
  CHECK(open_pod_sysfs({own, {1, 2, 3}}, "").error().code() == Code::not_found);
}

TEST_CASE("a pod's namespace is looked for in the mount namespace that is named, and only there") {
  const Namespace here{"/proc/thread-self/ns/net", {1, 2, 3}};
  const auto refused = open_pod_sysfs(here, "/nowhere");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() ==
        "open a pod's network namespace: open /nowhere: No such file or directory");
}

}  // namespace
}  // namespace ibpod::node
