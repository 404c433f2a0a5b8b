#include "sm/controller/change_times.h"

namespace ibpod::sm::controller {

void ChangeTimes::requested(uint64_t version, Time now) {
  changes_.push_back({version, now});
  if (changes_.size() > kMost) changes_.pop_front();
}

void ChangeTimes::reached(uint64_t placed, uint64_t swept, Time now) {
  for (Change& change : changes_) {
    if (change.placed || change.version > placed) continue;
    change.placed = true;
    observe_("placed", now - change.requested);
  }
  for (; !changes_.empty() && changes_.front().version <= swept; changes_.pop_front())
    observe_("swept", now - changes_.front().requested);
}

}  // namespace ibpod::sm::controller
