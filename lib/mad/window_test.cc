#include "lib/mad/window.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

using namespace std::chrono_literals;

constexpr Window::Time kStart{};

TEST_CASE("a loss halves the window, down to one packet") {
  Window window(16);
  auto now = kStart;
  for (const size_t size : {8U, 4U, 2U, 1U, 1U}) {
    now += 1ms;
    window.lost(now, now);
    CHECK(window.size() == size);
  }
}

TEST_CASE("packets lost together halve it once") {
  Window window(16);
  for (int i = 0; i < 16; ++i) window.lost(kStart, kStart + 200ms);
  CHECK(window.size() == 8);
  window.lost(kStart + 199ms, kStart + 399ms);
  CHECK(window.size() == 8);
  window.lost(kStart + 200ms, kStart + 400ms);
  CHECK(window.size() == 4);
}

TEST_CASE("it grows by one for each window of answers, and not beyond the most") {
  Window window(4);
  window.lost(kStart, kStart + 1ms);
  REQUIRE(window.size() == 2);
  window.answered();
  CHECK(window.size() == 2);
  window.answered();
  CHECK(window.size() == 3);
  for (int i = 0; i < 3; ++i) window.answered();
  CHECK(window.size() == 4);
  for (int i = 0; i < 100; ++i) window.answered();
  CHECK(window.size() == 4);
}

TEST_CASE("no window is smaller than one packet") { CHECK(Window(0).size() == 1); }

}  // namespace
}  // namespace ibpod::mad
