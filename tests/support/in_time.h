// Waits for what another thread or process makes true.
#pragma once

#include "lib/base/clock.h"

#include <chrono>
#include <thread>

namespace ibpod {

// True if `holds` returns true within 20 s. It is not asked again after that, since asking may
// change the state. It is asked once more after the deadline, in case this thread did not run
// meanwhile.
template <typename Holds>
bool in_time(Holds holds) {
  const Deadline deadline = Deadline::in(Duration(20'000));
  bool over = false;
  while (!holds()) {
    if (over) return false;
    over = deadline.passed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace ibpod
