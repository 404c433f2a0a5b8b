// TokenBucket: limits how often something is done: a burst at once, and a rate over time.
#pragma once

#include <algorithm>
#include <chrono>

namespace ibpod {

class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  TokenBucket() = default;
  // Starts full, with `burst` tokens; `per_second` tokens return until it is full again.
  TokenBucket(double burst, double per_second)
      : burst_(burst), per_second_(per_second), left_(burst) {}

  // Negative if more was spent than there was.
  double left(Time now) const {
    const std::chrono::duration<double> since = now - spent_at_;
    return std::min(left_ + std::max(0.0, since.count()) * per_second_, burst_);
  }
  bool full(Time now) const { return left(now) >= burst_; }
  void spend(double tokens, Time now) {
    left_ = left(now) - tokens;
    spent_at_ = now;
  }
  // True if the last spend() took more than there was.
  bool overdrawn() const { return left_ < 0; }
  // Gives tokens back.
  void refund(double tokens, Time now) { spend(-tokens, now); }
  // Forgets a debt: at least no token is owed.
  void forgive() { left_ = std::max(left_, 0.0); }

 private:
  double burst_ = 0, per_second_ = 0;
  double left_ = 0;  // at spent_at_
  Time spent_at_ = {};
};

}  // namespace ibpod
