#include "lib/base/jitter.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a pause becomes three to five quarters of it") {
  CHECK(jittered(Duration(1000), 0) == Duration(750));
  CHECK(jittered(Duration(1000), 0.5) == Duration(1000));
  CHECK(jittered(Duration(1000), 1) == Duration(1250));
}

TEST_CASE("random numbers are between 0 and 1, and not all the same") {
  const auto random = random_number();
  const double first = random();
  bool differs = false;
  for (int n = 0; n < 100; ++n) {
    const double number = random();
    CHECK(number >= 0);
    CHECK(number <= 1);
    differs |= number != first;
  }
  CHECK(differs);
}

}  // namespace
}  // namespace ibpod
