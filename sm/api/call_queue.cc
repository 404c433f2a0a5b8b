#include "sm/api/call_queue.h"

#include <utility>

namespace ibpod::sm::api {

Status CallQueue::check_room(const std::string& caller, Share share) const {
  const auto found = queues_.find(caller);
  const size_t own = found == queues_.end() ? 0 : found->second.size();
  const bool ordinary = share == Share::ordinary;
  const size_t most_of_one = limits_.of_one - (ordinary ? limits_.reserve_of_one : 0);
  const size_t most = limits_.all - (ordinary ? limits_.reserve_of_all : 0);
  if (share != Share::administrator && own >= most_of_one)
    return Error(Code::unavailable, caller + ": limit of waiting calls reached (" +
                                        std::to_string(most_of_one) + "); try again later");
  if (size_ < most) return ok();
  return Error(Code::unavailable, "limit of waiting calls of all callers reached (" +
                                      std::to_string(most) + "); try again later");
}

Status CallQueue::push(const std::string& caller, Share share, Call call) {
  TRY(check_room(caller, share));
  std::deque<Call>& queue = queues_[caller];
  if (queue.empty()) order_.push_back(caller);
  queue.push_back(std::move(call));
  ++size_;
  return ok();
}

std::vector<CallQueue::Call> CallQueue::take(size_t most) {
  std::vector<Call> taken;
  while (taken.size() < most && !order_.empty()) {
    const auto found = queues_.find(order_.front());
    taken.push_back(std::move(found->second.front()));
    found->second.pop_front();
    --size_;
    if (found->second.empty()) {
      queues_.erase(found);
      order_.pop_front();
    } else {
      order_.splice(order_.end(), order_, order_.begin());
    }
  }
  return taken;
}

}  // namespace ibpod::sm::api
