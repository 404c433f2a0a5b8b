#include "sm/service/errands.h"

#include <utility>

namespace ibpod::sm {

bool Errands::ask(Errand request) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || requests_ >= most_) return false;
  ++requests_;
  waiting_.push_back(std::move(request));
  changed_.notify_one();
  return true;
}

void Errands::tell(Errand news) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  waiting_.push_back(std::move(news));
  changed_.notify_one();
}

std::optional<std::vector<Errands::Errand>> Errands::take(std::optional<Time> due) {
  std::unique_lock lock(mutex_);
  const auto something = [&] { return stopped_ || !waiting_.empty(); };
  if (due)
    changed_.wait_until(lock, *due, something);
  else
    changed_.wait(lock, something);
  if (stopped_ && waiting_.empty()) return std::nullopt;
  requests_ = 0;
  return std::exchange(waiting_, {});
}

void Errands::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

}  // namespace ibpod::sm
