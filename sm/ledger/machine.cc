#include "sm/ledger/machine.h"

namespace ibpod::sm {

Machine::Heard Machine::hear(const std::string& boot, Steady now, Steady::duration silence) {
  if (boot == boot_) {
    heard_ = now;
    both_ = !other_.empty();
    return Heard::same;
  }
  if (boot_.empty() || now - heard_ >= silence) {
    *this = Machine(boot, now);
    return Heard::same;
  }
  if (boot != other_) both_ = false;
  other_ = boot;
  other_heard_ = now;
  return both_ ? Heard::intruding : Heard::another;
}

bool Machine::is_doubled(Steady now, Steady::duration silence) const {
  return both_ && now - other_heard_ < silence;
}

}  // namespace ibpod::sm
