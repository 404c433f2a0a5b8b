#include "lib/fabricapi/call_limiter.h"

#include <vector>

#include <doctest/doctest.h>

namespace ibpod::fabricapi {
namespace {

using Share = Places::Share;

struct Taken {
  explicit Taken(size_t most, size_t of_one)
      : places(std::make_shared<Places>("calls", most, of_one)) {}
  bool take(const std::string& who, Share share = Share::ordinary) {
    auto place = places->take(who, share);
    if (place) taken.push_back(*place);
    return place.ok();
  }
  std::shared_ptr<Places> places;
  std::vector<std::shared_ptr<Places::Place>> taken;
};

TEST_CASE("places: who has filled a caller's ordinary ones can still end what it has begun") {
  Taken calls(100, 4);
  for (int n = 0; n < 3; ++n) CHECK(calls.take("n1"));
  CHECK_FALSE(calls.take("n1"));
  CHECK(calls.take("n1", Share::reserved));
  CHECK_FALSE(calls.take("n1", Share::reserved));
  CHECK(calls.take("n2"));
  calls.taken.pop_back();
  calls.taken.pop_back();
  CHECK(calls.take("n1", Share::reserved));
}

TEST_CASE("places: when all ordinary ones are taken, some are left for ends and administrators") {
  Taken calls(8, 2);
  for (const char* who : {"n1", "n2", "n3", "n4", "n5", "n6", "n7"}) CHECK(calls.take(who));
  CHECK_FALSE(calls.take("n8"));
  CHECK(calls.take("n8", Share::reserved));
  const auto refused = calls.places->take("n9", Share::reserved);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() == "8 calls are in progress, which is the most");
}

}  // namespace
}  // namespace ibpod::fabricapi
