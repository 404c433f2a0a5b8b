#include "agent/snapshot/port_poll_schedule.h"

#include <doctest/doctest.h>

namespace ibpod::agent::snapshot {
namespace {

using device_plugin::UnhealthyReason;

Snapshot snapshot_of(const std::map<std::string, std::optional<UnhealthyReason>>& pool_devices) {
  Snapshot snapshot;
  for (const auto& [id, ailment] : pool_devices) snapshot.health[id] = {ailment, ""};
  return snapshot;
}

bool is_far(const Deadline& due) { return due.left() > std::chrono::hours(24); }

TEST_CASE("ports are looked at again while one of them may come up, and only then") {
  PortPollSchedule timeout;
  CHECK(is_far(timeout.due()));
  timeout.update(snapshot_of({{"a", std::nullopt}, {"b", UnhealthyReason::quarantine}}), true);
  CHECK(is_far(timeout.due()));
  for (const UnhealthyReason ailment : {UnhealthyReason::port_not_active, UnhealthyReason::pf_down,
                                        UnhealthyReason::no_guid, UnhealthyReason::wrong_subnet}) {
    timeout.update(snapshot_of({{"a", ailment}}), true);
    CHECK_FALSE(is_far(timeout.due()));
    timeout.update(snapshot_of({{"a", std::nullopt}}), true);
    CHECK(is_far(timeout.due()));
  }
}

TEST_CASE("so they are while something is not prepared") {
  PortPollSchedule timeout;
  Snapshot snapshot;
  snapshot.preparation_errors = {"0000:3b:00.0: its port is not up"};
  timeout.update(snapshot, true);
  CHECK_FALSE(is_far(timeout.due()));
  timeout.update({}, true);
  CHECK(is_far(timeout.due()));
}

TEST_CASE("the pauses grow, and are short again for a port that went down later") {
  const Snapshot down = snapshot_of({{"a", UnhealthyReason::port_not_active}});
  PortPollSchedule timeout({Duration(0), Duration(0)});
  timeout.update(down, true);
  CHECK(timeout.due().passed());
  // A look by an event in between does not put it off.
  PortPollSchedule long_ones({Duration(1'000'000), Duration(8'000'000)});
  long_ones.update(down, true);
  const Deadline first = long_ones.due();
  long_ones.update(down, true);
  CHECK(long_ones.due().time() == first.time());
  long_ones.update(
      snapshot_of({{"a", UnhealthyReason::port_not_active}, {"b", UnhealthyReason::pf_down}}),
      true);
  CHECK(long_ones.due().time() > first.time());
  CHECK(long_ones.due().left() <= Duration(1'000'000));
}

TEST_CASE("a look that is due and has not been at ports is due still") {
  const Snapshot down = snapshot_of({{"a", UnhealthyReason::port_not_active}});
  PortPollSchedule timeout({Duration(0), Duration(1'000'000)});
  timeout.update(down, true);
  const Deadline due = timeout.due();
  REQUIRE(due.passed());
  timeout.update(down, false);
  CHECK(timeout.due().time() == due.time());
  timeout.update(down, true);
  CHECK(timeout.due().time() > due.time());
}

}  // namespace
}  // namespace ibpod::agent::snapshot
