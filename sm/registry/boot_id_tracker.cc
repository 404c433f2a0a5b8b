#include "sm/registry/boot_id_tracker.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

// A refused agent asks again at least so often, and its finding is not to come and go.
constexpr std::chrono::seconds kShown{90};

}  // namespace

Machine::Heard Machine::hear(const std::string& boot, Steady now, const Limits& limits) {
  if (boot == boot_) {
    heard_ = now;
    both_ = !other_.empty();
    return Heard::same;
  }
  const bool known_beside = both_ && boot == other_;
  if (boot_.empty() || now - heard_ >= (known_beside ? limits.lease : limits.silence)) {
    *this = Machine(boot, now);
    return Heard::same;
  }
  if (boot != other_) both_ = false;
  other_ = boot;
  other_heard_ = now;
  return both_ ? Heard::intruding : Heard::another;
}

Machine::Steady::duration Machine::rest(Steady now, const Limits& limits) const {
  return std::max(limits.silence - (now - heard_), Steady::duration::zero());
}

bool Machine::is_doubled(Steady now, const Limits& limits) const {
  return both_ && now - other_heard_ < std::max<Steady::duration>(limits.silence, kShown);
}

}  // namespace ibpod::sm
