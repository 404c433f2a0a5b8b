// What a change is said to do before it is made, and what a request for it is told.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::test {
namespace {

struct PlanBed : Bed {
  // "ok", or why there is none.
  std::string ask(const fabricapi::PlanRequest& request) {
    std::string told = "nothing";
    steward->at(now());
    steward->plan(kAdministrator, request, [&](const Result<fabricapi::Plan>& plan) {
      told = plan ? "ok" : plan.error().text();
      if (plan) planned = *plan;
    });
    turn();
    return told;
  }
  std::string change(const fabric::Tenancy& tenancy) {
    steward->at(now());
    std::string told = "nothing";
    steward->update_partition(kAdministrator, tenancy, [&](const auto& updated) {
      told = updated ? "ok" : updated.error().text();
    });
    turn();
    return told;
  }
  std::string remove(const std::string& name) {
    steward->at(now());
    std::string told = "nothing";
    steward->delete_partition(kAdministrator, name, [&](const auto& deleted) {
      told = deleted ? "ok" : deleted.error().text();
    });
    turn();
    return told;
  }
  bool noted(std::string_view part) const {
    for (const std::string& note : planned.notes)
      if (note.find(part) != std::string::npos) return true;
    return false;
  }
  static fabric::Tenancy tenancy(const std::string& name, std::optional<ib::PKey> pkey = {}) {
    fabric::Tenancy made;
    made.name = name;
    made.pkey = pkey;
    made.allowed = {"*"};
    return made;
  }

  fabricapi::Plan planned;
};

TEST_CASE_FIXTURE(PlanBed, "a plan speaks of the P_Key that would be given") {
  create(tenancy("last", ib::PKey(0x7ffe)));
  REQUIRE(last == "ok");
  fabric::Tenancy blue = tenancy("blue");
  blue.members = {{kVf3, fabric::Membership::full, ""}};
  CHECK(ask({.tenancy = blue, .without = {}}) == "ok");
  CHECK(noted("0x0001 is the P_Key that it would be given now"));
  create(blue);
  CHECK(last == "ok");
  CHECK(ledger->partition("blue")->tenancy.pkey == ib::PKey(0x0001));
}

TEST_CASE_FIXTURE(PlanBed, "a plan names the ports that change, and nobody else") {
  create(tenancy("red"));
  settle();
  read(true);
  fabric::Tenancy blue = tenancy("blue");
  CHECK(ask({.tenancy = blue, .without = {}}) == "ok");
  CHECK(planned.changed == 0);
  blue.members = {{kVf3, fabric::Membership::full, ""}};
  CHECK(ask({.tenancy = blue, .without = {}}) == "ok");
  REQUIRE(planned.ports.size() == 1);
  CHECK(planned.ports[0] == fabricapi::Plan::Port{kVf3, "", "0:0x7fff", "0:0x7fff 0x8002"});
  CHECK(ask({.tenancy = {}, .without = "red"}) == "ok");
  CHECK(planned.changed == 0);

  fabric::Tenancy red = tenancy("red");
  red.membership = fabric::Membership::full;
  CHECK(ask({.tenancy = red, .without = {}, .update = true}) == "ok");
  CHECK(planned.changed == 0);
}

TEST_CASE_FIXTURE(PlanBed, "a plan begins at what was asked just before") {
  create(tenancy("red"));
  settle();
  read(true);
  fabric::Tenancy red = tenancy("red");
  red.members = {{kVf3, fabric::Membership::full, ""}};
  steward->at(now());
  steward->update_partition(kAdministrator, red, [](const auto&) {});
  CHECK(ask({.tenancy = tenancy("blue"), .without = {}}) == "ok");
  CHECK(planned.changed == 0);
}

TEST_CASE_FIXTURE(PlanBed, "what would be refused is not planned") {
  partition("blue");
  settle();
  bind(kNode1, request(kVf1, "blue"));
  CHECK(ask({.tenancy = tenancy("blue"), .without = {}}) ==
        "partition blue: the name is that of partition blue");
  create(tenancy("blue"));
  CHECK(last == "partition blue: the name is that of partition blue");

  CHECK(ask({.tenancy = tenancy("red"), .without = {}, .update = true}) ==
        "there is no partition red");
  CHECK(change(tenancy("red")) == "there is no partition red");

  const std::string in_use =
      "partition blue: 1 binding is in it, or was and is not released yet (`ibpodctl binding list "
      "--partition blue`)";
  CHECK(ask({.tenancy = {}, .without = "blue"}) == in_use);
  CHECK(remove("blue") == in_use);

  engine.refusal = "no";
  CHECK(ask({.tenancy = tenancy("red"), .without = {}}) == "no");
  CHECK(ask({.tenancy = tenancy("blue"), .without = {}, .update = true}) == "no");
}

TEST_CASE_FIXTURE(PlanBed, "what a partition says no more is planned as the fabric has it") {
  fabric::Tenancy blue = tenancy("blue");
  blue.ipoib = true;
  blue.mtu = fabric::Mtu::mtu_1024;
  create(blue);
  settle();
  CHECK(ask({.tenancy = blue, .without = {}, .update = true}) == "ok");
  CHECK_FALSE(noted("the IPoIB broadcast group of blue stays"));
  blue.mtu.reset();
  CHECK(ask({.tenancy = blue, .without = {}, .update = true}) == "ok");
  CHECK(noted("the IPoIB broadcast group of blue stays"));
  CHECK(ledger->partition("blue")->tenancy.mtu == fabric::Mtu::mtu_1024);
}

}  // namespace
}  // namespace ibpod::sm::test
