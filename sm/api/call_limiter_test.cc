#include "sm/api/call_limiter.h"

#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using Quota = CallLimiter::Quota;

struct LimiterFixture {
  explicit LimiterFixture(size_t most, size_t of_one)
      : limiter(std::make_shared<CallLimiter>("calls", most, of_one)) {}
  bool take(const std::string& who, Quota quota = Quota::ordinary) {
    auto slot = limiter->take(who, quota);
    if (slot) slots.push_back(*slot);
    return slot.ok();
  }
  std::shared_ptr<CallLimiter> limiter;
  std::vector<std::shared_ptr<CallLimiter::Slot>> slots;
};

TEST_CASE("places: who has filled a caller's ordinary ones can still end what it has begun") {
  LimiterFixture calls(100, 4);
  for (int n = 0; n < 3; ++n) CHECK(calls.take("n1"));
  CHECK_FALSE(calls.take("n1"));
  CHECK(calls.take("n1", Quota::reserved));
  CHECK_FALSE(calls.take("n1", Quota::reserved));
  CHECK(calls.take("n2"));
  calls.slots.pop_back();
  calls.slots.pop_back();
  CHECK(calls.take("n1", Quota::reserved));
}

TEST_CASE("places: when all ordinary ones are taken, some are left for ends and administrators") {
  LimiterFixture calls(8, 2);
  for (const char* who : {"n1", "n2", "n3", "n4", "n5", "n6", "n7"}) CHECK(calls.take(who));
  CHECK_FALSE(calls.take("n8"));
  CHECK(calls.take("n8", Quota::reserved));
  const auto refused = calls.limiter->take("n9", Quota::reserved);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() ==
        "limit of calls in progress of all callers reached (8); try again later");
}

}  // namespace
}  // namespace ibpod::sm::api
