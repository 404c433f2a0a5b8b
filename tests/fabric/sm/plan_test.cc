// What `plan` says of a change, and what the ports hold when it has been made.
#include "tests/fabric/setting.h"
#include "tests/fabric/sm/plans.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

std::vector<fabric::TenancyStatus> partitions(const SmBed& bed) {
  const auto listed = bed.client().list_partitions({}, SmBed::patience());
  REQUIRE(listed);
  return listed->items;
}

// How many ports have changed.
size_t compare(SmBed& bed, RandomChanges& random) {
  random.stir(bed, partitions(bed));
  until_settled(bed);
  const PlannedChange change = random.next(partitions(bed));
  INFO(change.text);
  const auto plan = bed.client().plan(change.plan(), SmBed::patience());
  const std::vector<ib::PKeyTable> before = bed.subnet.tables();
  const std::string refused = change.make(bed);
  if (!plan) {
    CHECK(refused == std::string(name(plan.error().code())) + ": " + plan.error().text());
    return 0;
  }
  CHECK(refused == "");
  until_settled(bed);
  const std::string wrong = difference(*plan, before, bed.subnet.tables());
  CHECK_MESSAGE(wrong.empty(), wrong);
  return plan->ports.size();
}

// PLANS=N: so many changes; a lane makes 200 (tests/lanes/plans.sh).
TEST_CASE("whatever is changed, what was planned is what happens") {
  const auto seed = setting("SEED", 1U);
  const bool both = seed % 2 == 0;
  SmBed bed("", both);
  RandomChanges random(seed, both);
  size_t ports = 0;
  for (auto left = setting("PLANS", 10U); left > 0; --left) ports += compare(bed, random);
  MESSAGE("seed " << seed << ": " << ports << " ports have changed");
  CHECK(ports > 0);
}

}  // namespace
}  // namespace ibpod
