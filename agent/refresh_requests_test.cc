#include "agent/refresh_requests.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

constexpr Duration kLong{3'600'000};

TEST_CASE("who asks for a look waits for the end of one that began after that") {
  RefreshRequests requests;
  const auto look = [&] { requests.end(requests.begin()); };
  CHECK(requests.request(Deadline::in(kLong), look));
  const RefreshRequests::Number before = requests.begin();
  CHECK_FALSE(requests.request(Deadline::in(Duration(0)), [&] { requests.end(before); }));
  CHECK(requests.request(Deadline::in(kLong), look));
}

}  // namespace
}  // namespace ibpod::agent
