// The predicted effects of a change, and the answers to requests for a plan.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

struct PlanBed : Fixture {
  // "ok", or the error.
  std::string ask(const fabricapi::PlanRequest& request) {
    std::string outcome = "nothing";
    controller->set_time(now());
    controller->calls().plan(kAdministrator, request, [&](const Result<v1::PlanResponse>& plan) {
      outcome = plan ? "ok" : plan.error().text();
      if (plan) planned = *plan;
    });
    tick();
    return outcome;
  }
  std::string change(const fabric::Partition& partition) {
    controller->set_time(now());
    std::string outcome = "nothing";
    controller->calls().update_partition(kAdministrator, partition, [&](const auto& updated) {
      outcome = updated ? "ok" : updated.error().text();
    });
    tick();
    return outcome;
  }
  std::string remove(const std::string& name) {
    controller->set_time(now());
    std::string outcome = "nothing";
    controller->calls().delete_partition(kAdministrator, name, [&](const auto& deleted) {
      outcome = deleted ? "ok" : deleted.error().text();
    });
    tick();
    return outcome;
  }
  bool noted(std::string_view part) const {
    for (const std::string& note : planned.notes())
      if (note.find(part) != std::string::npos) return true;
    return false;
  }
  static fabric::Partition make_partition(const std::string& name,
                                          std::optional<ib::PKey> pkey = {}) {
    fabric::Partition made;
    made.name = name;
    made.pkey = pkey;
    made.allowed = {"*"};
    return made;
  }

  v1::PlanResponse planned;
};

TEST_CASE_FIXTURE(PlanBed, "a plan speaks of the P_Key that would be given") {
  create(make_partition("last", ib::PKey(0x7ffe)));
  REQUIRE(last == "ok");
  fabric::Partition blue = make_partition("blue");
  blue.members = {{kVf3, fabric::Membership::full, ""}};
  CHECK(ask({.partition = blue, .without = {}}) == "ok");
  CHECK(noted("its P_Key would be 0x0001"));
  create(blue);
  CHECK(last == "ok");
  CHECK(registry->partitions.view().find("blue")->spec.pkey == ib::PKey(0x0001));
}

TEST_CASE_FIXTURE(PlanBed, "a plan names the ports that change, and no others") {
  create(make_partition("red"));
  settle();
  read(true);
  fabric::Partition blue = make_partition("blue");
  CHECK(ask({.partition = blue, .without = {}}) == "ok");
  CHECK(planned.changed() == 0);
  blue.members = {{kVf3, fabric::Membership::full, ""}};
  CHECK(ask({.partition = blue, .without = {}}) == "ok");
  REQUIRE(planned.ports_size() == 1);
  CHECK(planned.ports(0).guid() == kVf3.value());
  CHECK(planned.ports(0).description().empty());
  CHECK(planned.ports(0).before() == "0:0x7fff");
  CHECK(planned.ports(0).after() == "0:0x7fff 0x8002");
  CHECK(ask({.partition = {}, .without = "red"}) == "ok");
  CHECK(planned.changed() == 0);

  fabric::Partition red = make_partition("red");
  red.membership = fabric::Membership::full;
  CHECK(ask({.partition = red, .without = {}, .update = true}) == "ok");
  CHECK(planned.changed() == 0);
}

TEST_CASE_FIXTURE(PlanBed, "a plan begins at what was asked just before") {
  create(make_partition("red"));
  settle();
  read(true);
  fabric::Partition red = make_partition("red");
  red.members = {{kVf3, fabric::Membership::full, ""}};
  controller->set_time(now());
  controller->calls().update_partition(kAdministrator, red, [](const auto&) {});
  CHECK(ask({.partition = make_partition("blue"), .without = {}}) == "ok");
  CHECK(planned.changed() == 0);
}

TEST_CASE_FIXTURE(PlanBed, "what would be refused is not planned") {
  partition("blue");
  settle();
  bind(kNode1, request(kVf1, "blue"));
  CHECK(ask({.partition = make_partition("blue"), .without = {}}) ==
        "partition blue: the name is already used by partition blue");
  create(make_partition("blue"));
  CHECK(last == "partition blue: the name is already used by partition blue");

  CHECK(ask({.partition = make_partition("red"), .without = {}, .update = true}) ==
        "there is no partition red");
  CHECK(change(make_partition("red")) == "there is no partition red");

  const std::string in_use =
      "partition blue: 1 binding still uses it; list them with `ibpodctl binding list --partition "
      "blue`";
  CHECK(ask({.partition = {}, .without = "blue"}) == in_use);
  CHECK(remove("blue") == in_use);

  engine.refusal = "no";
  CHECK(ask({.partition = make_partition("red"), .without = {}}) == "no");
  CHECK(ask({.partition = make_partition("blue"), .without = {}, .update = true}) == "no");
}

TEST_CASE_FIXTURE(PlanBed, "what a partition says no more is planned as the fabric has it") {
  fabric::Partition blue = make_partition("blue");
  blue.ipoib = true;
  blue.mtu = fabric::Mtu::mtu_1024;
  create(blue);
  settle();
  CHECK(ask({.partition = blue, .without = {}, .update = true}) == "ok");
  CHECK_FALSE(noted("the IPoIB broadcast group of blue keeps its parameters"));
  blue.mtu.reset();
  CHECK(ask({.partition = blue, .without = {}, .update = true}) == "ok");
  CHECK(noted("the IPoIB broadcast group of blue keeps its parameters"));
  CHECK(registry->partitions.view().find("blue")->spec.mtu == fabric::Mtu::mtu_1024);
}

}  // namespace
}  // namespace ibpod::sm::controller::test
