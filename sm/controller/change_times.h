// ChangeTimes: how long the versions of the partitions take from their request until the subnet
// manager has them in place, and until its tables have them. No clock: the time is an argument.
#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <utility>

namespace ibpod::sm::controller {

class ChangeTimes {
 public:
  using Time = Deadline::Clock::time_point;
  // `reached`: "placed" or "swept", as in the metric ibpod_sm_version.
  using Observe = std::function<void(std::string_view reached, std::chrono::duration<double> took)>;

  explicit ChangeTimes(Observe observe) : observe_(std::move(observe)) {}

  // The version was given to the subnet manager. Versions increase.
  void requested(uint64_t version, Time now);
  // The subnet manager has reached these versions. Each version is observed once for each of them,
  // even if the subnet manager loses it and gets it again.
  void reached(uint64_t placed, uint64_t swept, Time now);

 private:
  struct Change {
    uint64_t version;
    Time requested;
    bool placed = false;
  };
  // If a subnet manager does not go on, the oldest changes are not measured.
  static constexpr size_t kMost = 1000;

  Observe observe_;
  std::deque<Change> changes_;  // by version; without those that are swept
};

}  // namespace ibpod::sm::controller
