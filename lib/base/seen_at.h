// The time of a look, for sentences that say what the look has shown.
#pragma once

#include <chrono>
#include <string>

namespace ibpod {

// " (seen at 22:36:10 UTC)"; empty for the clock's epoch, which says that there was no look.
std::string seen_at(std::chrono::system_clock::time_point time);

}  // namespace ibpod
