// Errands: what others have asked of one thread, in the order they asked. It waits here until there
// is something to do.
#pragma once

#include "lib/base/clock.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace ibpod::sm {

class Errands {
 public:
  using Time = Deadline::Clock::time_point;
  using Errand = std::function<void()>;

  // `most`: so many requests wait at most.
  explicit Errands(size_t most) : most_(most) {}

  // From any thread. False, and nothing is kept, where too many wait already, or it is over.
  bool ask(Errand request);
  // The same for what must not get lost: it always waits, and may be told at any time.
  void tell(Errand news);

  // All that has come since the last call. Waits for something, until `due`. Nothing at all: stop()
  // has been called, and all that had come before has been taken.
  std::optional<std::vector<Errand>> take(std::optional<Time> due);
  // From any thread. Nobody is let in any more.
  void stop();

 private:
  const size_t most_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Errand> waiting_;
  size_t requests_ = 0;  // of those
  bool stopped_ = false;
};

}  // namespace ibpod::sm
