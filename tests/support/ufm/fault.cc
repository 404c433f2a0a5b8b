#include "tests/support/ufm/fault.h"

namespace ibpod::fake_ufm {
namespace {

bool matches(const Fault& fault, const Call& call) {
  if (fault.caller && *fault.caller != call.caller) return false;
  if (fault.pkey && *fault.pkey != call.pkey) return false;
  return fault.operations.empty() || fault.operations.contains(call.operation);
}

}  // namespace

Words<FaultKind> words_of(FaultKind) {
  return {{"refuse", FaultKind::refuse},           {"html", FaultKind::html},
          {"half_done", FaultKind::half_done},     {"ignore", FaultKind::ignore},
          {"lose_answer", FaultKind::lose_answer}, {"hang", FaultKind::hang},
          {"hang_after", FaultKind::hang_after},   {"slow", FaultKind::slow},
          {"truncate", FaultKind::truncate}};
}

std::optional<Fault> FaultQueue::take(const Call& call) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (!matches(*fault, call)) continue;
    if (fault->skip > 0) {
      --fault->skip;
      continue;
    }
    Fault taken = *fault;
    if (fault->times > 0 && --fault->times == 0) faults_.erase(fault);
    return taken;
  }
  return std::nullopt;
}

}  // namespace ibpod::fake_ufm
