#include "lib/fabricapi/places.h"

namespace ibpod::fabricapi {

Result<std::shared_ptr<Places::Place>> Places::take(const std::string& who) {
  const std::lock_guard lock(mutex_);
  const auto found = of_.find(who);
  const size_t own = found == of_.end() ? 0 : found->second;
  if (own >= most_of_one_) {
    return Error(Code::unavailable, who + " has " + std::to_string(own) + " " + what_ +
                                        " in progress, which is the most");
  }
  if (taken_ >= most_) {
    return Error(Code::unavailable,
                 std::to_string(taken_) + " " + what_ + " are in progress, which is the most");
  }
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
