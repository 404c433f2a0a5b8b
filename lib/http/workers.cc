#include "lib/http/workers.h"

#include <utility>

namespace ibpod::http {

Workers::Workers(size_t count) {
  for (size_t n = 0; n < count; ++n)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Workers::add(Job job, Priority turn) {
  const std::lock_guard lock(mutex_);
  (turn == Priority::first ? urgent_ : jobs_).push_back(std::move(job));
  changed_.notify_one();
}

// With the mutex held.
std::deque<Workers::Job>& Workers::next() { return urgent_.empty() ? jobs_ : urgent_; }

void Workers::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !next().empty(); });
    if (stop.stop_requested()) return;
    const Job job = std::move(next().front());
    next().pop_front();
    lock.unlock();
    job();
  }
}

}  // namespace ibpod::http
