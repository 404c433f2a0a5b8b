#include "sm/report/line_limit.h"

namespace ibpod::sm {

LineLimit::Account& LineLimit::account(const std::string& caller, Time now) {
  const auto found = accounts_.find(caller);
  if (found != accounts_.end()) return found->second;
  const bool room = accounts_.size() < settings_.callers;
  return accounts_.try_emplace(room ? caller : std::string(), Account{.since = now}).first->second;
}

bool LineLimit::take(const std::string& caller, Time now) {
  Account& one = account(caller, now);
  if (now >= one.since + kWindow) {
    one.since = now;
    one.lines = 0;
  }
  if (one.lines < settings_.lines) return ++one.lines, true;
  ++one.dropped;
  return false;
}

// An account that is not needed any more goes, so that there is room for others.
std::vector<LineLimit::Dropped> LineLimit::take_dropped(Time now) {
  std::vector<Dropped> dropped;
  for (auto at = accounts_.begin(); at != accounts_.end();) {
    const auto& [caller, one] = *at;
    const bool over = now >= one.since + kWindow;
    if (over && one.dropped > 0) dropped.push_back({caller, one.dropped});
    at = over ? accounts_.erase(at) : std::next(at);
  }
  return dropped;
}

}  // namespace ibpod::sm
