// Window: how many packets may be on the wire at once. VL15, which carries them, has no flow
// control: what a switch has no room for it drops. So losses are the one sign of too much, and the
// window is halved on a loss and grows back by one packet for every window of answers.
#pragma once

#include "lib/base/clock.h"

#include <cstddef>

namespace ibpod::mad {

class Window {
 public:
  using Time = Deadline::Clock::time_point;

  // It begins at `most`, which is at least 1.
  explicit Window(size_t most);

  size_t size() const { return size_; }
  void answered();
  // A packet that was sent at `sent` is lost. Those that were on the wire with another lost one
  // tell nothing new: only what was sent after the last halving counts.
  void lost(Time sent, Time now);

 private:
  size_t most_;
  size_t size_;
  size_t answers_ = 0;  // since it last changed
  Time halved_ = Time::min();
};

}  // namespace ibpod::mad
