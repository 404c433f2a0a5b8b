#include "lib/base/clock.h"

#include <array>
#include <cstdio>

namespace ibpod {

std::string seen_at(std::chrono::system_clock::time_point time) {
  using std::chrono::floor;
  if (time == std::chrono::system_clock::time_point{}) return "";
  const auto seconds = floor<std::chrono::seconds>(time.time_since_epoch()) %
                       std::chrono::seconds(std::chrono::days(1));
  std::array<char, 16> text{};
  const auto clock = std::chrono::hh_mm_ss(seconds);
  std::snprintf(text.data(), text.size(), "%02d:%02d:%02d", static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return " (seen at " + std::string(text.data()) + " UTC)";
}

}  // namespace ibpod
