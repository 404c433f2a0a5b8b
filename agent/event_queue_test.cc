#include "agent/event_queue.h"

#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

EventQueue opened() { return EventQueue::open().value(); }
// The events that are available at once, or none.
PendingEvents received(EventQueue& events) { return events.wait(-1, Deadline::in(Duration(0))); }
Deadline in_an_hour() { return Deadline::in(std::chrono::hours(1)); }

TEST_CASE(
    "a rest lasts until its end, whatever is told meanwhile, and what is told is heard after it") {
  EventQueue events = opened();
  events.post({.devices = true});
  const Deadline end = Deadline::in(Duration(20));
  events.sleep_until(end);
  CHECK(end.passed());
  CHECK(events.wait(-1, in_an_hour()).devices);
  CHECK_FALSE(received(events).devices);
}

TEST_CASE("what is told during a rest is heard after it") {
  EventQueue events = opened();
  std::thread other([&events] { events.post({.gc_done = true}); });
  events.sleep_until(Deadline::in(Duration(20)));
  other.join();
  CHECK(events.wait(-1, in_an_hour()).gc_done);
}

// The agent would never sleep again.
TEST_CASE("after a rest in which nothing was posted the next wait lasts until its timeout") {
  EventQueue events = opened();
  events.sleep_until(Deadline::in(Duration(1)));
  events.sleep_until(Deadline::in(Duration(0)));
  CHECK(events.wait(-1, Deadline::in(Duration(20))).changes.ports);
}

TEST_CASE("a stop ends a rest, one that was told before it too") {
  EventQueue events = opened();
  std::thread other([&events] { events.post({.stop = true}); });
  events.sleep_until(in_an_hour());
  other.join();
  events.sleep_until(in_an_hour());
  CHECK(received(events).stop);
}

}  // namespace
}  // namespace ibpod::agent
