#include "sm/controller/change_limit.h"

#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

using namespace std::chrono_literals;

const ChangeLimit::Time kStart{100s};

// The number of ten changes that the node may make.
int changes(ChangeLimit& limit, const std::string& node, ChangeLimit::Time now) {
  int made = 0;
  for (int n = 0; n < 10; ++n) {
    if (!limit.may_change(node, now)) continue;
    limit.take(node, now);
    ++made;
  }
  return made;
}

TEST_CASE("changes: a node has a burst, then so many a second; others have their own") {
  ChangeLimit limit({.per_second = 2, .burst = 5});
  CHECK(changes(limit, "n1", kStart) == 5);
  CHECK(changes(limit, "n1", kStart + 400ms) == 0);
  CHECK(changes(limit, "n2", kStart + 400ms) == 5);
  CHECK(changes(limit, "n1", kStart + 500ms) == 1);
  CHECK(changes(limit, "n1", kStart + 2500ms) == 4);
  CHECK(changes(limit, "n1", kStart + 1h) == 5);
}

TEST_CASE("changes: nodes whose account is full again are forgotten") {
  ChangeLimit limit({.per_second = 2, .burst = 5});
  for (int n = 0; n < 1024; ++n) limit.take("n" + std::to_string(n), kStart);
  CHECK(limit.size() == 1024);
  limit.take("another", kStart + 1s);
  CHECK(limit.size() == 1);
}

TEST_CASE_FIXTURE(test::Fixture, "Binds of a node that change too much are busy; Unbinds work") {
  changes = {.per_second = 1, .burst = 2};
  restart();
  partition("blue");
  partition("red");
  using test::kNode1;
  using test::request;
  CHECK(bind(test::kNode1, test::request(test::kVf1, "blue")).empty());
  settle();
  for (int n = 0; n < 3; ++n)
    CHECK_MESSAGE(bind(test::kNode1, test::request(test::kVf1, "blue")) == "verified",
                  "it changes nothing");
  CHECK(bind(test::kNode1, test::request(test::kVf2, "blue", "c2")).empty());
  CHECK(bind(test::kNode1, test::request(test::kVf1, "red"), 0) == "busy");
  CHECK(last.find("node n1") != std::string::npos);
  CHECK(last.find("2 at once, 1 per second") != std::string::npos);
  CHECK_MESSAGE(bind(test::kNode1, test::request(test::kVf1, "blue")) == "verified",
                "it changes nothing, so the limit is not for it");
  CHECK_MESSAGE(bind(test::kNode2, test::request(test::kVf3, "blue", "c1", "n2")).empty(),
                "another node's are not touched");
  settle();
  unbind(test::kNode1, {"n1", "c1", "net1"});
  settle();
  CHECK(registry->bindings.bindings_on(test::kVf1).empty());
  tick(1000);
  CHECK(bind(test::kNode1, test::request(test::kVf1, "blue", "c3")).empty());
}

}  // namespace
}  // namespace ibpod::sm::controller
