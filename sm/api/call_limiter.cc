#include "sm/api/call_limiter.h"

namespace ibpod::sm::api {

Status CallLimiter::check_room(const std::string& caller, Quota quota) const {
  const auto found = taken_by_.find(caller);
  const size_t own = found == taken_by_.end() ? 0 : found->second;
  const bool ordinary = quota == Quota::ordinary;
  const size_t most_of_one = most_of_one_ - (ordinary ? most_of_one_ / 4 : 0);
  const size_t most = most_ - (ordinary ? most_ / 8 : 0);
  if (own >= most_of_one) {
    return Error(Code::unavailable, caller + ": limit of " + what_ + " in progress reached (" +
                                        std::to_string(own) + "); try again later");
  }
  if (taken_ < most) return ok();
  return Error(Code::unavailable, "limit of " + what_ + " in progress of all callers reached (" +
                                      std::to_string(taken_) + "); try again later");
}

Result<std::shared_ptr<CallLimiter::Slot>> CallLimiter::take(const std::string& caller,
                                                             Quota quota) {
  const std::lock_guard lock(mutex_);
  TRY(check_room(caller, quota));
  ++taken_by_[caller];
  ++taken_;
  return std::make_shared<Slot>(shared_from_this(), caller);
}

void CallLimiter::free(const std::string& caller) {
  const std::lock_guard lock(mutex_);
  const auto found = taken_by_.find(caller);
  if (--found->second == 0) taken_by_.erase(found);
  --taken_;
}

}  // namespace ibpod::sm::api
