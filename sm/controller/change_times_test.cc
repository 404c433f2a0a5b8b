#include "sm/controller/change_times.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

struct Bed {
  std::map<std::string, std::vector<double>> seconds;
  ChangeTimes times{[this](std::string_view reached, std::chrono::duration<double> took) {
    seconds[std::string(reached)].push_back(took.count());
  }};
  static ChangeTimes::Time at(int second) {
    return ChangeTimes::Time(std::chrono::seconds(1'000 + second));
  }
};

using Seconds = std::vector<double>;

TEST_CASE("each version is measured from its request, once for each step") {
  Bed bed;
  bed.times.requested(1, Bed::at(0));
  bed.times.requested(2, Bed::at(1));
  bed.times.reached(0, 0, Bed::at(2));
  CHECK(bed.seconds.empty());
  bed.times.reached(1, 0, Bed::at(3));
  CHECK(bed.seconds["placed"] == Seconds{3});
  // A later version has the earlier one in it.
  bed.times.reached(2, 2, Bed::at(5));
  CHECK(bed.seconds["placed"] == Seconds{3, 4});
  CHECK(bed.seconds["swept"] == Seconds{5, 4});
  bed.times.reached(2, 2, Bed::at(9));
  CHECK(bed.seconds["swept"].size() == 2);
}

TEST_CASE("a version that is lost and comes again is placed once") {
  Bed bed;
  bed.times.requested(1, Bed::at(0));
  bed.times.reached(1, 0, Bed::at(1));
  bed.times.reached(0, 0, Bed::at(2));
  bed.times.reached(1, 1, Bed::at(7));
  CHECK(bed.seconds["placed"] == Seconds{1});
  CHECK(bed.seconds["swept"] == Seconds{7});
}

TEST_CASE("of many versions that go nowhere the newest are measured") {
  Bed bed;
  for (uint64_t version = 1; version <= 5'000; ++version) bed.times.requested(version, Bed::at(0));
  bed.times.reached(5'000, 5'000, Bed::at(1));
  CHECK(bed.seconds["placed"].size() == 1'000);
  CHECK(bed.seconds["swept"].size() == 1'000);
}

}  // namespace
}  // namespace ibpod::sm::controller
