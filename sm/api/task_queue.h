// TaskQueue: the tasks of one thread, from other threads.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "sm/api/call_queue.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::api {

class TaskQueue {
 public:
  using Time = Deadline::Clock::time_point;
  using Task = CallQueue::Call;

  explicit TaskQueue(CallQueue::Limits limits) : calls_(limits) {}

  // Thread-safe. The calls of one caller run in order; several callers take turns. unavailable, and
  // the call is dropped, if too many wait already or stop() was called.
  Status try_post(const std::string& caller, CallQueue::Share share, Task call);
  // For events, which must not be lost: always accepted, and run before the waiting calls.
  void post(Task news);

  // The tasks to run now: all events and one call, so that the caller can read the clock after each
  // call. Waits for a task until `due`. nullopt: stop() was called, and every earlier task has been
  // taken.
  std::optional<std::vector<Task>> take(std::optional<Time> due);
  // Thread-safe. No more calls are accepted.
  void stop();

 private:
  std::mutex mutex_;  // for the members below
  std::condition_variable changed_;
  std::vector<Task> posted_;
  CallQueue calls_;
  bool stopped_ = false;
};

}  // namespace ibpod::sm::api
