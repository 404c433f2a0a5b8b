#include "lib/jwt/fetch_schedule.h"

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

constexpr FetchSchedule::Time kStart{std::chrono::hours(1000)};

// Half a minute after kStart: when the first fetch has ended.
constexpr FetchSchedule::Time kEnd = kStart + Duration(30'000);

FetchSchedule schedule_with(double random) {
  return {{}, kStart, [random] { return random; }};
}

TEST_CASE("fetch schedule: at once, then about every five minutes") {
  FetchSchedule schedule = schedule_with(0.5);
  CHECK(schedule.due() == kStart);
  schedule.succeeded(kEnd);
  CHECK(schedule.due() == kEnd + Duration(300'000));
  for (const double random : {0.0, 1.0}) {
    FetchSchedule other = schedule_with(random);
    other.succeeded(kEnd);
    CHECK(other.due() == kEnd + Duration(random == 0 ? 225'000 : 375'000));
  }
}

TEST_CASE("fetch schedule: a missing key makes it earlier, at most once in ten seconds") {
  FetchSchedule schedule = schedule_with(0.5);
  schedule.key_missing();
  CHECK(schedule.due() == kStart);
  schedule.succeeded(kEnd);
  for (int n = 0; n < 3; ++n) {
    schedule.key_missing();
    CHECK(schedule.due() == kEnd + Duration(10'000));
  }
  // The key is missing again after it.
  const FetchSchedule::Time second = kEnd + Duration(11'000);
  schedule.succeeded(second);
  CHECK(schedule.due() == second + Duration(300'000));
  schedule.key_missing();
  CHECK(schedule.due() == second + Duration(10'000));
}

TEST_CASE("fetch schedule: failures are repeated more and more slowly, whatever is missing") {
  FetchSchedule schedule = schedule_with(0.5);
  FetchSchedule::Time now = kStart;
  for (const int seconds : {1, 2, 4, 8, 16, 32, 60, 60}) {
    schedule.failed(now);
    schedule.key_missing();
    CHECK(schedule.due() == now + std::chrono::seconds(seconds));
    now = schedule.due();
  }
  schedule.succeeded(now);
  schedule.key_missing();
  CHECK(schedule.due() == now + Duration(10'000));
  schedule.failed(now);
  CHECK(schedule.due() == now + std::chrono::seconds(1));
}

}  // namespace
}  // namespace ibpod::jwt
