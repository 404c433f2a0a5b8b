#include "agent/event_queue.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

Events opened() { return Events::open().value(); }
// What is told at once, or nothing.
Happened heard(Events& events) { return events.wait(-1, Deadline::in(Duration(0))); }
Deadline in_an_hour() { return Deadline::in(std::chrono::hours(1)); }

TEST_CASE(
    "a rest lasts until its end, whatever is told meanwhile, and what is told is heard after it") {
  Events events = opened();
  events.tell({.devices = true});
  const Deadline end = Deadline::in(Duration(20));
  events.rest(end);
  CHECK(end.passed());
  CHECK(events.wait(-1, in_an_hour()).devices);
  CHECK_FALSE(heard(events).devices);
}

TEST_CASE("what is told during a rest is heard after it") {
  Events events = opened();
  std::thread other([&events] { events.tell({.swept = true}); });
  events.rest(Deadline::in(Duration(20)));
  other.join();
  CHECK(events.wait(-1, in_an_hour()).swept);
}

TEST_CASE("a stop ends a rest, one that was told before it too") {
  Events events = opened();
  std::thread other([&events] { events.tell({.stop = true}); });
  events.rest(in_an_hour());
  other.join();
  events.rest(in_an_hour());
  CHECK(heard(events).stop);
}

}  // namespace
}  // namespace ibpod::agent
