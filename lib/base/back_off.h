// BackOff: how long to wait before the next attempt, twice as long each time.
#pragma once

#include "lib/base/clock.h"

namespace ibpod {

class BackOff {
 public:
  BackOff(Duration first, Duration most) : first_(first), most_(most), next_(first) {}
  Duration pause() const { return next_; }
  // Returns pause(), and doubles it, up to the longest.
  Duration next() {
    const Duration now = next_;
    next_ = std::min(most_, next_ * 2);
    return now;
  }
  void reset() { next_ = first_; }

 private:
  Duration first_;
  Duration most_;
  Duration next_;
};

}  // namespace ibpod
