// Now: the time of a request or an observation; always an argument.
#pragma once

#include "lib/fabric/binding.h"

#include <chrono>

namespace ibpod::sm::state {

using Steady = std::chrono::steady_clock::time_point;

// `steady` is for leases, `wall` for display.
struct Now {
  Steady steady{};
  fabric::WallTime wall{};
};

}  // namespace ibpod::sm::state
