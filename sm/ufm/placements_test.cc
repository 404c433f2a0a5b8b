#include "sm/ufm/placements.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using std::chrono::seconds;

Placements::Time at(int second) { return Placements::Time(seconds(second)); }

TEST_CASE("a version is swept when it has been in place for the time of effect") {
  Placements placements(seconds(60));
  CHECK(placements.placed() == 0);
  CHECK_FALSE(placements.due());
  placements.placed(3, at(100));
  placements.placed(5, at(130));
  placements.placed(4, at(140));
  CHECK(placements.placed() == 5);
  CHECK(placements.due() == at(160));
  placements.advance(at(159));
  CHECK(placements.swept() == 0);
  placements.advance(at(160));
  CHECK(placements.swept() == 3);
  CHECK(placements.due() == at(190));
  placements.advance(at(500));
  CHECK(placements.swept() == 5);
  CHECK_FALSE(placements.due());
}

TEST_CASE("what UFM has lost is neither in place nor swept, and its time begins again") {
  Placements placements(seconds(60));
  placements.placed(3, at(100));
  placements.advance(at(200));
  placements.placed(4, at(200));
  placements.lost();
  CHECK(placements.placed() == 0);
  CHECK(placements.swept() == 0);
  placements.advance(at(300));
  CHECK(placements.swept() == 0);
  placements.placed(4, at(300));
  placements.advance(at(359));
  CHECK(placements.swept() == 0);
  placements.advance(at(360));
  CHECK(placements.swept() == 4);
}

TEST_CASE("under a flow of versions no version is swept too early") {
  Placements placements(seconds(60));
  for (int n = 1; n <= 10'000; ++n) placements.placed(static_cast<uint64_t>(n), at(n));
  for (int n = 61; n <= 10'060; ++n) {
    placements.advance(at(n));
    CHECK(placements.swept() <= static_cast<uint64_t>(n - 60));
  }
  CHECK(placements.swept() == 10'000);
}

}  // namespace
}  // namespace ibpod::sm::ufm
