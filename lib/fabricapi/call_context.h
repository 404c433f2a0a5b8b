// Patience: how long whoever has asked waits for an answer.
#pragma once

#include "lib/base/clock.h"

#include <functional>
#include <utility>

namespace ibpod::fabricapi {

class Patience {
 public:
  // `gone`, from any thread: he has broken the call off. Empty: he does not.
  Patience(Deadline until, std::function<bool()> gone = {})
      : until_(until), gone_(std::move(gone)) {}

  Deadline until() const { return until_; }
  bool gone() const { return gone_ && gone_(); }

 private:
  Deadline until_;
  std::function<bool()> gone_;
};

}  // namespace ibpod::fabricapi
