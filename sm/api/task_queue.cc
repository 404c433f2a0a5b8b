#include "sm/api/task_queue.h"

#include <iterator>
#include <utility>

namespace ibpod::sm::api {

Status TaskQueue::try_post(const std::string& caller, CallQueue::Share share, Task call) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return Error(Code::unavailable, "ibpod-sm is stopping; try again later");
  TRY(calls_.push(caller, share, std::move(call)));
  changed_.notify_one();
  return ok();
}

void TaskQueue::post(Task news) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  posted_.push_back(std::move(news));
  changed_.notify_one();
}

std::optional<std::vector<TaskQueue::Task>> TaskQueue::take(std::optional<Time> due) {
  std::unique_lock lock(mutex_);
  const auto something = [&] { return stopped_ || !posted_.empty() || calls_.size() > 0; };
  if (due)
    changed_.wait_until(lock, *due, something);
  else
    changed_.wait(lock, something);
  if (stopped_ && posted_.empty() && calls_.size() == 0) return std::nullopt;
  std::vector<Task> taken = std::exchange(posted_, {});
  std::vector<Task> calls = calls_.take(1);
  std::move(calls.begin(), calls.end(), std::back_inserter(taken));
  return taken;
}

void TaskQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

}  // namespace ibpod::sm::api
