#include "lib/fabric/node_patterns.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

TEST_CASE("nodes: a name, or one with a *; none is every node") {
  CHECK(matches_node({}, "n1"));
  CHECK(matches_node({"*"}, "n1"));
  CHECK(matches_node({"n1"}, "n1"));
  CHECK_FALSE(matches_node({"n1"}, "n10"));
  CHECK_FALSE(matches_node({"n1"}, "N1"));
  CHECK(matches_node({"gpu-*"}, "gpu-7.lab"));
  CHECK_FALSE(matches_node({"gpu-*"}, "gpu-"));
  CHECK_FALSE(matches_node({"gpu-*"}, "cpu-gpu-7"));
  CHECK(matches_node({"*.rack1"}, "n7.rack1"));
  CHECK_FALSE(matches_node({"*.rack1"}, "n7.rack12"));
  CHECK(matches_node({"a*a"}, "aba"));
  CHECK_FALSE(matches_node({"a*a"}, "aa"));
  CHECK(matches_node({"x", "n*"}, "n1"));
}

TEST_CASE("nodes: a pattern without a cluster is one of the default cluster's nodes") {
  CHECK_FALSE(matches_node({"*"}, "dev/n1"));
  CHECK_FALSE(matches_node({"n1"}, "dev/n1"));
  CHECK(matches_node({}, "dev/n1"));
  CHECK(matches_node({"dev/*"}, "dev/n1"));
  CHECK_FALSE(matches_node({"dev/*"}, "n1"));
  CHECK_FALSE(matches_node({"dev/*"}, "lab/n1"));
  CHECK(matches_node({"dev/gpu-*"}, "dev/gpu-7"));
  CHECK_FALSE(matches_node({"dev/gpu-*"}, "dev/n1"));
  CHECK(matches_node({"*/n1"}, "dev/n1"));
  CHECK(matches_node({"*/n1"}, "n1"));
  CHECK_FALSE(matches_node({"*/n1"}, "dev/n10"));
}

TEST_CASE("nodes: what no node can match is refused") {
  CHECK(check_node_patterns({}));
  CHECK(check_node_patterns({"*", "n1", "n1.lab-a", "gpu-*", "*.rack1", "a*b", "a/*", "*/a*b"}));
  for (const std::string pattern : {"", "N1", "n_1", "a**", "*a*", "-*", "*-", ".*", "n1 ", "/a",
                                    "a/", "a*/n1", "A/n1", "a/b/c"}) {
    CAPTURE(pattern);
    const Status checked = check_node_patterns({"n1", pattern});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == Code::invalid);
    CHECK(checked.error().text() == "'" + pattern +
                                        "' is not a node name, which may contain one *, and may "
                                        "have CLUSTER/ or */ in front");
  }
  CHECK_FALSE(check_node_patterns({std::string(253, 'a') + "*"}));
}

}  // namespace
}  // namespace ibpod::fabric
