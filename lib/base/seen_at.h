// The time of an observation, for sentences that report it.
#pragma once

#include <chrono>
#include <string>

namespace ibpod {

// " (seen at 22:36:10 UTC)"; empty for the clock's epoch, which means that nothing was observed.
std::string seen_at(std::chrono::system_clock::time_point time);

}  // namespace ibpod
