// Liveness: whether the agent's main thread still runs, for the kubelet's liveness probe.
#pragma once

#include "lib/base/result.h"

#include <atomic>
#include <chrono>

namespace ibpod::agent {

class Liveness {
 public:
  // By the main thread, once a round.
  void tick() { last_tick_ = std::chrono::steady_clock::now(); }
  // From any thread. unavailable if the last round began too long ago.
  Status check() const;

 private:
  std::atomic<std::chrono::steady_clock::time_point> last_tick_ = std::chrono::steady_clock::now();
};

}  // namespace ibpod::agent
