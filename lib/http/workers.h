// Workers: a few threads that run jobs, urgent ones first, else in the order of arrival.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace ibpod::http {

class Workers {
 public:
  using Job = std::function<void()>;

  explicit Workers(size_t count);
  // Waits for running jobs and drops the others.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  enum class Priority { first, last };
  void add(Job job, Priority turn);

 private:
  void work(const std::stop_token& stop);
  std::deque<Job>& next();
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> urgent_, jobs_;  // guarded by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace ibpod::http
