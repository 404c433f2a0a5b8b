#include "agent/snapshot/port_poll_schedule.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using device_plugin::Ailment;

View view_of(const std::map<std::string, std::optional<Ailment>>& offers) {
  View view;
  for (const auto& [id, ailment] : offers) view.verdicts[id] = {ailment, ""};
  return view;
}

bool is_far(const Deadline& due) { return due.left() > std::chrono::hours(24); }

TEST_CASE("ports are looked at again while one of them may come up, and only then") {
  PortPatience patience;
  CHECK(is_far(patience.due()));
  patience.seen(view_of({{"a", std::nullopt}, {"b", Ailment::quarantine}}), true);
  CHECK(is_far(patience.due()));
  for (const Ailment ailment :
       {Ailment::port_not_active, Ailment::pf_down, Ailment::no_guid, Ailment::wrong_subnet}) {
    patience.seen(view_of({{"a", ailment}}), true);
    CHECK_FALSE(is_far(patience.due()));
    patience.seen(view_of({{"a", std::nullopt}}), true);
    CHECK(is_far(patience.due()));
  }
}

TEST_CASE("so they are while something is not prepared") {
  PortPatience patience;
  View view;
  view.troubles = {"0000:3b:00.0: its port is not up"};
  patience.seen(view, true);
  CHECK_FALSE(is_far(patience.due()));
  patience.seen({}, true);
  CHECK(is_far(patience.due()));
}

TEST_CASE("the pauses grow, and are short again for a port that went down later") {
  const View down = view_of({{"a", Ailment::port_not_active}});
  PortPatience patience({Duration(0), Duration(0)});
  patience.seen(down, true);
  CHECK(patience.due().passed());
  // A look by an event in between does not put it off.
  PortPatience long_ones({Duration(1'000'000), Duration(8'000'000)});
  long_ones.seen(down, true);
  const Deadline first = long_ones.due();
  long_ones.seen(down, true);
  CHECK(long_ones.due().time() == first.time());
  long_ones.seen(view_of({{"a", Ailment::port_not_active}, {"b", Ailment::pf_down}}), true);
  CHECK(long_ones.due().time() > first.time());
  CHECK(long_ones.due().left() <= Duration(1'000'000));
}

TEST_CASE("a look that is due and has not been at ports is due still") {
  const View down = view_of({{"a", Ailment::port_not_active}});
  PortPatience patience({Duration(0), Duration(1'000'000)});
  patience.seen(down, true);
  const Deadline due = patience.due();
  REQUIRE(due.passed());
  patience.seen(down, false);
  CHECK(patience.due().time() == due.time());
  patience.seen(down, true);
  CHECK(patience.due().time() > due.time());
}

}  // namespace
}  // namespace ibpod::agent
