// `plan` for a change, compared with the ports' tables after the change.
#include "tests/fabric/setting.h"
#include "tests/fabric/sm/plans.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

std::vector<fabric::PartitionStatus> partitions(const SmFixture& fixture) {
  const auto listed = fixture.client().list_partitions({}, SmFixture::deadline_in());
  REQUIRE(listed);
  return listed->items;
}

// How many ports have changed.
size_t compare(SmFixture& fixture, RandomChanges& random) {
  random.stir(fixture, partitions(fixture));
  until_settled(fixture);
  const PlannedChange change = random.next(partitions(fixture));
  INFO(change.text);
  const auto plan = fixture.client().plan(change.plan(), SmFixture::deadline_in());
  const std::vector<ib::PKeyTable> before = fixture.subnet.tables();
  const std::string refused = change.make(fixture);
  if (!plan) {
    CHECK(refused == std::string(name(plan.error().code())) + ": " + plan.error().text());
    return 0;
  }
  CHECK(refused == "");
  until_settled(fixture);
  const std::string wrong = difference(*plan, before, fixture.subnet.tables());
  CHECK_MESSAGE(wrong.empty(), wrong);
  return static_cast<size_t>(plan->ports_size());
}

// PLANS=N: so many changes; a lane makes 200 (tests/lanes/plans.sh).
TEST_CASE("whatever is changed, what was planned is what happens") {
  const auto seed = setting("SEED", 1U);
  const bool both = seed % 2 == 0;
  SmFixture fixture("", both);
  RandomChanges random(seed, both);
  size_t ports = 0;
  for (auto left = setting("PLANS", 10U); left > 0; --left) ports += compare(fixture, random);
  MESSAGE("seed " << seed << ": " << ports << " ports have changed");
  CHECK(ports > 0);
}

}  // namespace
}  // namespace ibpod
