// Now: the time of a request or an observation, which is an argument everywhere.
#pragma once

#include "lib/fabric/binding.h"

#include <chrono>

namespace ibpod::sm::state {

using Steady = std::chrono::steady_clock::time_point;

// `steady` drives leases; `wall` is for display.
struct Now {
  Steady steady{};
  fabric::WallTime wall{};
};

}  // namespace ibpod::sm::state
