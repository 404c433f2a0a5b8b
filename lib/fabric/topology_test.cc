#include "lib/fabric/topology.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

Port port(uint64_t guid, ib::Lid lid = 0) {
  Port seen;
  seen.guid = ib::Guid(guid);
  seen.lid = lid;
  seen.path = *mad::Route::along({1, 2});
  return seen;
}

TEST_CASE("a port is found by its GUID, whatever the order in which they were seen") {
  const Topology topology({.ports = {port(7), port(3, 30), port(5)}});
  for (const uint64_t guid : {3U, 5U, 7U}) {
    const Port* const found = topology.find(ib::Guid(guid));
    REQUIRE(found);
    CHECK(found->guid == ib::Guid(guid));
  }
  for (const uint64_t guid : {0U, 2U, 4U, 8U}) CHECK(topology.find(ib::Guid(guid)) == nullptr);
  CHECK(Topology().find(ib::Guid(1)) == nullptr);
}

TEST_CASE("of two ports with one GUID the first is kept") {
  const Topology topology({.ports = {port(5, 1), port(3), port(5, 2)}});
  CHECK(topology.ports().size() == 2);
  CHECK(topology.find(ib::Guid(5))->lid == 1);
}

TEST_CASE("a port is asked by its LID, and by its path where that leads nowhere") {
  CHECK(port(1, 9).route() == *mad::Route::to(9));
  CHECK(port(1, 0).route() == *mad::Route::along({1, 2}));
  CHECK(port(1, 0xffff).route() == *mad::Route::along({1, 2}));
  Port kept = port(1, 9);
  kept.state = ib::PortState::active;
  CHECK(kept.route() == *mad::Route::to(9));
  for (const auto state : {ib::PortState::down, ib::PortState::init, ib::PortState::armed}) {
    kept.state = state;
    CHECK(kept.route() == kept.path);
  }
}

TEST_CASE("it is whole if nothing is unseen, cut off or there twice") {
  CHECK(Topology({.ports = {port(1)}}).is_complete());
  CHECK(!Topology({.unanswered_count = 1}).is_complete());
  CHECK(!Topology({.truncated = true}).is_complete());
  CHECK(!Topology({.duplicates = {ib::Guid(1)}}).is_complete());
}

TEST_CASE("the master is the first subnet manager that says so") {
  const auto manager = [](uint64_t guid, mad::SmState state) {
    mad::SmInfo info;
    info.state = state;
    return DiscoveredSm{ib::Guid(guid), info};
  };
  CHECK(!Topology().master());
  const DiscoveredSm standby = manager(1, mad::SmState::standby);
  const DiscoveredSm silent{ib::Guid(2), mad::Failure{}};
  CHECK(!Topology({.managers = {standby, silent}}).master());
  const DiscoveredSm one = manager(3, mad::SmState::master);
  const DiscoveredSm other = manager(4, mad::SmState::master);
  CHECK(Topology({.managers = {standby, silent, one, other}}).master() == ib::Guid(3));
}

TEST_CASE("who is behind a switch that is there twice is in doubt, too") {
  Port behind = port(1);
  behind.switch_port = SwitchPort{.switch_guid = ib::Guid(100)};
  const Topology topology({.ports = {behind}, .duplicates = {ib::Guid(100), ib::Guid(2)}});
  CHECK(topology.is_ambiguous(behind));
  CHECK(topology.is_ambiguous(port(2)));
  CHECK(!topology.is_ambiguous(port(3)));
}

}  // namespace
}  // namespace ibpod::fabric
