#include "lib/fabric/namespaces.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

TEST_CASE("namespaces: what has no cluster allows the default cluster alone") {
  const struct {
    std::string allowed;
    bool ours, other_of_ours, devs, other_of_dev, labs;
  } table[] = {
      {"team-a", true, false, false, false, false},     {"*", true, true, false, false, false},
      {"dev/team-a", false, false, true, false, false}, {"dev/*", false, false, true, true, false},
      {"*/team-a", true, false, true, false, true},     {"*/*", true, true, true, true, true},
  };
  for (const auto& [allowed, ours, other_of_ours, devs, other_of_dev, labs] : table) {
    CAPTURE(allowed);
    CHECK(check({allowed}));
    CHECK(contains({allowed}, "team-a") == ours);
    CHECK(contains({allowed}, "other") == other_of_ours);
    CHECK(contains({allowed}, "dev/team-a") == devs);
    CHECK(contains({allowed}, "dev/other") == other_of_dev);
    CHECK(contains({allowed}, "lab/team-a") == labs);
  }
  CHECK_FALSE(contains({}, "team-a"));
  CHECK(contains({"x", "dev/team-a"}, "dev/team-a"));
}

TEST_CASE("namespaces: what can be no namespace is refused") {
  for (const std::string one : {"", "Team", "a.b", "a*", "**"}) {
    CAPTURE(one);
    CHECK(check({"team-a", one}).error().text() == "'" + one + "' is not a namespace or *");
  }
  for (const std::string one :
       {"/", "/a", "dev/", "Dev/a", "d.v/a", "dev/A", "dev/a*", "d*/a", "a/b/c"}) {
    CAPTURE(one);
    CHECK(check({one}).error().text() ==
          "'" + one + "' is not CLUSTER/NAMESPACE, each of which may be *");
  }
}

}  // namespace
}  // namespace ibpod::fabric
