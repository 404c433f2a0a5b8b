#include "lib/fabricapi/call_limiter.h"

namespace ibpod::fabricapi {

Status Places::check_room(const std::string& who, Share share) const {
  const auto found = of_.find(who);
  const size_t own = found == of_.end() ? 0 : found->second;
  const bool ordinary = share == Share::ordinary;
  const size_t most_of_one = most_of_one_ - (ordinary ? most_of_one_ / 4 : 0);
  const size_t most = most_ - (ordinary ? most_ / 8 : 0);
  if (own >= most_of_one) {
    return Error(Code::unavailable, who + " has " + std::to_string(own) + " " + what_ +
                                        " in progress, which is the most");
  }
  if (taken_ < most) return ok();
  return Error(Code::unavailable,
               std::to_string(taken_) + " " + what_ + " are in progress, which is the most");
}

Result<std::shared_ptr<Places::Place>> Places::take(const std::string& who, Share share) {
  const std::lock_guard lock(mutex_);
  TRY(check_room(who, share));
  ++of_[who];
  ++taken_;
  return std::make_shared<Place>(shared_from_this(), who);
}

void Places::free(const std::string& who) {
  const std::lock_guard lock(mutex_);
  const auto found = of_.find(who);
  if (--found->second == 0) of_.erase(found);
  --taken_;
}

}  // namespace ibpod::fabricapi
