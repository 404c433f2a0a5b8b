#include "sm/engine/passive_subnet_manager.h"

#include "sm/engine/test_engine.h"

#include <set>

namespace ibpod::sm::engine {
namespace {

TEST_CASE("an engine that observes keeps the contract of all engines, and writes nothing") {
  test::Bell bell;
  PassiveSubnetManager engine(bell.rung());
  test::check_contract(engine, bell);
  CHECK(engine.capabilities() == Capabilities{});
}

TEST_CASE("whether anybody manages the subnet is what was seen on it") {
  int rings = 0;
  PassiveSubnetManager engine([&] { ++rings; });
  CHECK(engine.status().health == Health::starting);
  engine.saw_master(false);
  CHECK(engine.status().health == Health::gone);
  CHECK(!engine.status().trouble.empty());
  engine.apply(1, test::with_tenant(1));
  CHECK(engine.status().health == Health::gone);
  engine.saw_master(true);
  engine.saw_master(true);
  CHECK(engine.status().health == Health::serving);
  CHECK(engine.status().trouble.empty());
  CHECK(rings == 3);
}

TEST_CASE("every health has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Health::stuck); ++i)
    names.insert(name(static_cast<Health>(i)));
  CHECK(names.size() == static_cast<size_t>(Health::stuck) + 1);
}

}  // namespace
}  // namespace ibpod::sm::engine
