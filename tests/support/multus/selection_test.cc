#include "tests/support/multus/selection.h"

#include <doctest/doctest.h>

namespace ibpod::multus {
namespace {

TEST_CASE("names: the namespace is the pod's, and the interface anybody's, unless they are named") {
  const auto selections = parse_selections("blue, team-b/red@ib1 ,blue", "team-a").value();
  REQUIRE(selections.size() == 3);
  CHECK(selections[0].name == "blue");
  CHECK(selections[0].name_space == "team-a");
  CHECK(selections[0].interface.empty());
  CHECK(selections[1].name == "red");
  CHECK(selections[1].name_space == "team-b");
  CHECK(selections[1].interface == "ib1");
  CHECK(selections[2].name == "blue");
  for (const char* wrong : {"Blue", "a/b/c", "blue,,red", "a b"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_selections(wrong, "team-a"));
  }
}

TEST_CASE("a list in JSON: everything that a network may be asked for") {
  const auto selections = parse_selections(R"([{"name": "blue"},
    {"name": "red", "namespace": "team-b", "interface": "ib1", "mac": "02:00:00:00:00:01",
     "infiniband-guid": "02:00:00:00:00:00:00:07", "ips": ["10.7.0.1/24", "fd07::1"],
     "deviceID": "0000:3b:00.2", "cni-args": {"partition": "red", "depth": {"a": [1]}}, "new": 7}])",
                                           "team-a")
                              .value();
  REQUIRE(selections.size() == 2);
  CHECK(selections[0].name_space == "team-a");
  CHECK_FALSE(selections[0].cni_args);
  const Selection& red = selections[1];
  CHECK(red.name_space == "team-b");
  CHECK(red.interface == "ib1");
  CHECK(red.mac == "02:00:00:00:00:01");
  CHECK(red.guid == "02:00:00:00:00:00:00:07");
  CHECK(red.ips == std::vector<std::string>{"10.7.0.1/24", "fd07::1"});
  CHECK(red.device == "0000:3b:00.2");
  CHECK(red.cni_args->text() == R"({"partition":"red","depth":{"a":[1]}})");
}

TEST_CASE("what is no address, and what is no list of networks, is refused") {
  for (const char* wrong :
       {R"([{"namespace": "a"}])", R"([{"name": "a", "infiniband-guid": "7"}])",
        R"([{"name": "a", "mac": "02:00:00:00:00:0g"}])", R"([{"name": "a", "ips": ["10.7"]}])",
        R"([{"name": "a", "cni-args": "partition"}])", R"({"name": "a"})", "[", R"(["a"])"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_selections(wrong, "team-a"));
  }
  // Eight bytes make a GUID, but nobody looks.
  CHECK(parse_selections(R"([{"name": "a", "infiniband-guid": "02:00:00:00:00:01"}])", "team-a"));
}

}  // namespace
}  // namespace ibpod::multus
