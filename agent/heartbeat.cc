#include "agent/liveness.h"

#include <string>

namespace ibpod::agent {
namespace {

// Longer than the longest that a turn of the thread can take. It looks once a minute at the least.
constexpr std::chrono::minutes kMaxTick{5};

}  // namespace

Status Liveness::check() const {
  const auto since = std::chrono::steady_clock::now() - last_tick_.load();
  if (since < kMaxTick) return ok();
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(since).count();
  return Error(Code::unavailable,
               "the agent's main thread has not run for " + std::to_string(minutes) + " minutes");
}

}  // namespace ibpod::agent
