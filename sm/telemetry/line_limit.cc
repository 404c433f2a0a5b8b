#include "sm/telemetry/line_limit.h"

#include <utility>

namespace ibpod::sm::telemetry {

LineLimit::Account& LineLimit::account(const std::string& caller, Time now) {
  const auto found = accounts_.find(caller);
  if (found != accounts_.end()) return found->second;
  const bool room = accounts_.size() < settings_.callers;
  return accounts_.try_emplace(room ? caller : std::string(), Account{.since = now}).first->second;
}

bool LineLimit::Account::take(size_t most, Time now) {
  if (now >= since + kWindow) {
    since = now;
    lines = 0;
  }
  if (lines < most) return ++lines, true;
  ++dropped;
  return false;
}

bool LineLimit::take(const std::string& caller, Time now) {
  return account(caller, now).take(settings_.lines, now) && total_.take(settings_.total, now);
}

// Removes accounts whose window is over, so that there is room for others.
std::vector<LineLimit::Dropped> LineLimit::take_dropped(Time now) {
  std::vector<Dropped> dropped;
  uint64_t unnamed = 0;
  if (now >= total_.since + kWindow) unnamed = std::exchange(total_.dropped, 0);
  for (auto at = accounts_.begin(); at != accounts_.end();) {
    const auto& [caller, one] = *at;
    const bool over = now >= one.since + kWindow;
    if (over && !caller.empty() && one.dropped > 0 && dropped.size() < settings_.names)
      dropped.push_back({caller, one.dropped});
    else if (over)
      unnamed += one.dropped;
    at = over ? accounts_.erase(at) : std::next(at);
  }
  if (unnamed > 0) dropped.push_back({"", unnamed});
  return dropped;
}

}  // namespace ibpod::sm::telemetry
