#include "agent/heartbeat.h"

#include <string>

namespace ibpod::agent {
namespace {

// Longer than any iteration can take. There is one a minute at least.
constexpr std::chrono::minutes kMaxTick{5};

}  // namespace

Status Heartbeat::check() const {
  const auto since = std::chrono::steady_clock::now() - last_tick_.load();
  if (since < kMaxTick) return ok();
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(since).count();
  return Error(Code::unavailable,
               "the agent's main thread has not run for " + std::to_string(minutes) + " minutes");
}

}  // namespace ibpod::agent
