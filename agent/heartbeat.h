// Heartbeat: says when the agent's main thread last ran, for the kubelet's liveness probe.
#pragma once

#include "lib/base/result.h"

#include <atomic>
#include <chrono>

namespace ibpod::agent {

class Heartbeat {
 public:
  // By the main thread, once an iteration.
  void tick() { last_tick_ = std::chrono::steady_clock::now(); }
  // From any thread. unavailable if the last iteration began five minutes ago or earlier.
  Status check() const;

 private:
  std::atomic<std::chrono::steady_clock::time_point> last_tick_ = std::chrono::steady_clock::now();
};

}  // namespace ibpod::agent
