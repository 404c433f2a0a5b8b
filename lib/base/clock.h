// Deadlines on the monotonic clock, and the text for the time of an observation.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

namespace ibpod {

using Duration = std::chrono::milliseconds;

// A point in time by which something has to be done. Copied freely; passed down so that every wait
// inside an operation shares the one limit.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline in(Duration duration) { return Deadline(Clock::now() + duration); }
  static Deadline at(Clock::time_point time) { return Deadline(time); }

  Clock::time_point time() const { return at_; }
  bool passed() const { return Clock::now() >= at_; }
  // The time that is left, never negative.
  Duration left() const {
    return std::max(Duration(0), std::chrono::duration_cast<Duration>(at_ - Clock::now()));
  }
  // The earlier of this one and `duration` from now.
  Deadline at_most(Duration duration) const {
    return Deadline(std::min(at_, Clock::now() + duration));
  }
  // The later of this one and `duration` from now.
  Deadline at_least(Duration duration) const {
    return Deadline(std::max(at_, Clock::now() + duration));
  }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

// " (seen at 22:36:10 UTC)"; empty for the clock's epoch, which means that nothing was observed.
std::string seen_at(std::chrono::system_clock::time_point time);

}  // namespace ibpod
