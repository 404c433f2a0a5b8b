#include "sm/probe/poll_schedule.h"

#include <doctest/doctest.h>

namespace ibpod::sm::probe {
namespace {

using namespace std::chrono_literals;
using Guids = std::vector<ib::Guid>;

const ib::Guid kOne(1);
const ib::Guid kTwo(2);
const PollSchedule::Time kStart{};

ProbeResult reading(ib::Guid port, uint16_t key = 0x8001) {
  ProbeResult found;
  found.port = port;
  found.table = ib::PKeyTable{ib::PKey(key)};
  return found;
}

TEST_CASE("who is named is due at once, and under way until it has been read") {
  PollSchedule poll({});
  CHECK(!poll.next());
  poll.set({kOne, kTwo}, kStart);
  CHECK(poll.next() == kStart);
  CHECK(poll.take_due(kStart) == Guids{kOne, kTwo});
  CHECK(poll.take_due(kStart + 1h).empty());
  CHECK(!poll.next());
  poll.note_read(reading(kTwo), kStart, kStart);
  CHECK(poll.take_due(kStart + 5ms) == Guids{kTwo});
}

TEST_CASE("what stays as it is is read twice as late each time, up to the most") {
  PollSchedule poll({5ms, 40ms});
  poll.set({kOne}, kStart);
  auto now = kStart;
  for (const auto pause : {5ms, 10ms, 20ms, 40ms, 40ms}) {
    REQUIRE(poll.take_due(now) == Guids{kOne});
    poll.note_read(reading(kOne), now, now);
    CHECK(poll.next() == now + pause);
    now = *poll.next();
  }
  poll.take_due(now);
  poll.note_read(reading(kOne, 0x8002), now, now);
  CHECK(poll.next() == now + 5ms);
}

TEST_CASE("what takes long is read rarely") {
  PollSchedule poll({});
  poll.set({kOne}, kStart);
  poll.take_due(kStart);
  poll.note_read(reading(kOne), kStart, kStart + 600ms);
  CHECK(poll.next() == kStart + 600ms + 1200ms);
}

TEST_CASE("who is named again keeps its time, who is no longer named has none") {
  PollSchedule poll({});
  poll.set({kOne, kTwo}, kStart);
  poll.take_due(kStart);
  poll.note_read(reading(kOne), kStart, kStart);
  poll.set({kOne}, kStart + 1ms);
  CHECK(poll.next() == kStart + 5ms);
  poll.note_read(reading(kTwo), kStart, kStart + 2ms);
  CHECK(poll.take_due(kStart + 1h) == Guids{kOne});
  poll.set({}, kStart);
  CHECK(poll.empty());
  poll.set({kTwo}, kStart + 3ms);
  CHECK(poll.take_due(kStart + 3ms) == Guids{kTwo});
}

TEST_CASE("an event makes all due, and what is under way once more") {
  PollSchedule poll({});
  poll.set({kOne, kTwo}, kStart);
  poll.take_due(kStart);
  poll.note_read(reading(kOne), kStart, kStart + 100ms);
  poll.poll_all_now(kStart + 110ms);
  CHECK(poll.take_due(kStart + 110ms) == Guids{kOne});
  poll.note_read(reading(kTwo), kStart, kStart + 120ms);
  CHECK(poll.take_due(kStart + 120ms) == Guids{kTwo});
  poll.poll_now(ib::Guid(9), kStart);
  CHECK(!poll.next());
}

}  // namespace
}  // namespace ibpod::sm::probe
