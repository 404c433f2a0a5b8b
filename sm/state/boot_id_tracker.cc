#include "sm/state/boot_id_tracker.h"

#include <algorithm>

namespace ibpod::sm::state {
namespace {

// A denied agent calls again within this time: the duplicate must stay visible until then.
constexpr std::chrono::seconds kShown{90};

}  // namespace

BootIdTracker::Relation BootIdTracker::note(const std::string& boot, Steady now,
                                            const Limits& limits) {
  if (boot == boot_) {
    last_contact_ = now;
    both_alive_ = !other_.empty();
    return Relation::same;
  }
  const bool known_beside = both_alive_ && boot == other_;
  if (boot_.empty() || now - last_contact_ >= (known_beside ? limits.lease : limits.silence)) {
    *this = BootIdTracker(boot, now);
    return Relation::same;
  }
  if (boot != other_) both_alive_ = false;
  other_ = boot;
  other_last_contact_ = now;
  return both_alive_ ? Relation::intruding : Relation::another;
}

BootIdTracker::Steady::duration BootIdTracker::silence_left(Steady now,
                                                            const Limits& limits) const {
  return std::max(limits.silence - (now - last_contact_), Steady::duration::zero());
}

bool BootIdTracker::has_duplicate(Steady now, const Limits& limits) const {
  return both_alive_ &&
         now - other_last_contact_ < std::max<Steady::duration>(limits.silence, kShown);
}

}  // namespace ibpod::sm::state
