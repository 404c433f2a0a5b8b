#include "sm/service/task_queue.h"

#include <iterator>
#include <utility>

namespace ibpod::sm {

Status Errands::ask(const std::string& caller, CallQueue::Share share, Errand call) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return Error(Code::unavailable, "the service ends; try again later");
  TRY(calls_.push(caller, share, std::move(call)));
  changed_.notify_one();
  return ok();
}

void Errands::tell(Errand news) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  news_.push_back(std::move(news));
  changed_.notify_one();
}

std::optional<std::vector<Errands::Errand>> Errands::take(std::optional<Time> due) {
  std::unique_lock lock(mutex_);
  const auto something = [&] { return stopped_ || !news_.empty() || calls_.size() > 0; };
  if (due)
    changed_.wait_until(lock, *due, something);
  else
    changed_.wait(lock, something);
  if (stopped_ && news_.empty() && calls_.size() == 0) return std::nullopt;
  std::vector<Errand> taken = std::exchange(news_, {});
  std::vector<Errand> calls = calls_.take(1);
  std::move(calls.begin(), calls.end(), std::back_inserter(taken));
  return taken;
}

void Errands::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

}  // namespace ibpod::sm
