#include "sm/probe/poll_schedule.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using namespace std::chrono_literals;
using Guids = std::vector<ib::Guid>;

const ib::Guid kOne(1);
const ib::Guid kTwo(2);
const Hurry::Time kStart{};

Reading reading(ib::Guid port, uint16_t key = 0x8001) {
  Reading found;
  found.port = port;
  found.table = ib::PKeyTable{ib::PKey(key)};
  return found;
}

TEST_CASE("who is named is due at once, and under way until it has been read") {
  Hurry hurry({});
  CHECK(!hurry.next());
  hurry.want({kOne, kTwo}, kStart);
  CHECK(hurry.next() == kStart);
  CHECK(hurry.take_due(kStart) == Guids{kOne, kTwo});
  CHECK(hurry.take_due(kStart + 1h).empty());
  CHECK(!hurry.next());
  hurry.read(reading(kTwo), kStart, kStart);
  CHECK(hurry.take_due(kStart + 5ms) == Guids{kTwo});
}

TEST_CASE("what stays as it is is read twice as late each time, up to the most") {
  Hurry hurry({5ms, 40ms});
  hurry.want({kOne}, kStart);
  auto now = kStart;
  for (const auto pause : {5ms, 10ms, 20ms, 40ms, 40ms}) {
    REQUIRE(hurry.take_due(now) == Guids{kOne});
    hurry.read(reading(kOne), now, now);
    CHECK(hurry.next() == now + pause);
    now = *hurry.next();
  }
  hurry.take_due(now);
  hurry.read(reading(kOne, 0x8002), now, now);
  CHECK(hurry.next() == now + 5ms);
}

TEST_CASE("what takes long is read rarely") {
  Hurry hurry({});
  hurry.want({kOne}, kStart);
  hurry.take_due(kStart);
  hurry.read(reading(kOne), kStart, kStart + 600ms);
  CHECK(hurry.next() == kStart + 600ms + 1200ms);
}

TEST_CASE("who is named again keeps its time, who is no longer named has none") {
  Hurry hurry({});
  hurry.want({kOne, kTwo}, kStart);
  hurry.take_due(kStart);
  hurry.read(reading(kOne), kStart, kStart);
  hurry.want({kOne}, kStart + 1ms);
  CHECK(hurry.next() == kStart + 5ms);
  hurry.read(reading(kTwo), kStart, kStart + 2ms);
  CHECK(hurry.take_due(kStart + 1h) == Guids{kOne});
  hurry.want({}, kStart);
  CHECK(hurry.empty());
  hurry.want({kTwo}, kStart + 3ms);
  CHECK(hurry.take_due(kStart + 3ms) == Guids{kTwo});
}

TEST_CASE("an event makes all due, and what is under way once more") {
  Hurry hurry({});
  hurry.want({kOne, kTwo}, kStart);
  hurry.take_due(kStart);
  hurry.read(reading(kOne), kStart, kStart + 100ms);
  hurry.all_at_once(kStart + 110ms);
  CHECK(hurry.take_due(kStart + 110ms) == Guids{kOne});
  hurry.read(reading(kTwo), kStart, kStart + 120ms);
  CHECK(hurry.take_due(kStart + 120ms) == Guids{kTwo});
  hurry.at_once(ib::Guid(9), kStart);
  CHECK(!hurry.next());
}

}  // namespace
}  // namespace ibpod::sm
