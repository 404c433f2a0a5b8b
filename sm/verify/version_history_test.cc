#include "sm/verify/version_history.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using Time = VersionHistory::Time;
constexpr Time at(int ms) { return Time(std::chrono::milliseconds(ms)); }

TEST_CASE("a reading knows of what was in place before it") {
  VersionHistory placements("e");
  CHECK(placements.at(at(100)) == 0);
  placements.record(3, at(10));
  placements.record(3, at(15));
  placements.record(2, at(16));
  placements.record(5, at(20));
  CHECK(placements.at(at(9)) == 0);
  CHECK(placements.at(at(10)) == 3);
  CHECK(placements.at(at(19)) == 3);
  CHECK(placements.at(at(20)) == 5);
  CHECK(placements.newest() == 5);
}

TEST_CASE("a stamp names what was in place when it was made, and no foreign stamp counts") {
  VersionHistory placements("e");
  const std::string first = placements.stamp();
  CHECK(placements.at(first) == 0);
  placements.record(3, at(10));
  const std::string third = placements.stamp();
  placements.record(4, at(11));
  CHECK(placements.at(third) == 3);
  CHECK(placements.at(placements.stamp()) == 4);
  for (const char* foreign : {"", "e", "e-0", "e-0-", "e-0-5", "e-1-3", "e-0-3x", "f-0-3", "ee-0-3",
                              "e-0--3", "e-0-99999999999999999999999"}) {
    CAPTURE(foreign);
    CHECK(placements.at(std::string_view(foreign)) == 0);
  }
}

TEST_CASE("what was in place before something foreign was says nothing any more") {
  VersionHistory placements("e");
  placements.record(3, at(10));
  const std::string stamp = placements.stamp();
  placements.reset(0);
  CHECK(placements.at(stamp) == 3);
  placements.reset(1);
  CHECK(placements.newest() == 0);
  CHECK(placements.at(at(12)) == 0);
  CHECK(placements.at(stamp) == 0);
  placements.record(3, at(13));
  CHECK(placements.at(at(12)) == 0);
  CHECK(placements.at(at(13)) == 3);
  CHECK(placements.at(stamp) == 0);
  CHECK_MESSAGE(placements.at(placements.stamp()) == 3, "the same version counts again");
}

TEST_CASE("only so many are remembered, and the newest always") {
  VersionHistory placements("e");
  for (int i = 1; i <= 1000; ++i) placements.record(static_cast<uint64_t>(i), at(i));
  CHECK(placements.at(at(1000)) == 1000);
  CHECK(placements.at(at(1)) == 0);
}

}  // namespace
}  // namespace ibpod::sm::verify
