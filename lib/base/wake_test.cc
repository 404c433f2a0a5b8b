#include "lib/base/wake.h"

#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

namespace ibpod {
namespace {

bool rung(const Wake& wake, int timeout_ms) {
  pollfd waiting{wake.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

TEST_CASE("a ring wakes who waits, and rings before a drain count once") {
  const Wake wake = Wake::open().value();
  CHECK_FALSE(rung(wake, 0));
  std::thread other([&] {
    wake.ring();
    wake.ring();
  });
  CHECK(rung(wake, 10'000));
  other.join();
  wake.drain();
  CHECK_FALSE(rung(wake, 0));
  wake.drain();
  CHECK_FALSE(rung(wake, 0));
}

}  // namespace
}  // namespace ibpod
