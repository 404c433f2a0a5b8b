// RefreshRequests: others ask the agent's thread for a look, and wait until one that began after
// that has ended.
#pragma once

#include "lib/base/clock.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ibpod::agent {

class RefreshRequests {
 public:
  using Number = uint64_t;

  // From any thread. `wake` tells the agent's thread that there is something to do. False: the
  // deadline came first.
  template <typename Wake>
  bool request(Deadline deadline, const Wake& wake) {
    std::unique_lock lock(mutex_);
    const Number mine = ++requested_;
    lock.unlock();
    wake();
    lock.lock();
    return ended_.wait_until(lock, deadline.time(), [&] { return done_ >= mine; });
  }
  // By the agent's thread: the last request that a look which begins now answers.
  Number begin() {
    const std::scoped_lock lock(mutex_);
    return requested_;
  }
  void end(Number last) {
    {
      const std::scoped_lock lock(mutex_);
      done_ = last;
    }
    ended_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  Number requested_ = 0, done_ = 0;  // guarded by mutex_
};

}  // namespace ibpod::agent
