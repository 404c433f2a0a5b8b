// Errands: what others have asked of one thread. It waits here until there is something to do.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "sm/service/call_queue.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::service {

class TaskQueue {
 public:
  using Time = Deadline::Clock::time_point;
  using Task = CallQueue::Call;

  explicit TaskQueue(CallQueue::Limits limits) : calls_(limits) {}

  // From any thread. A caller's calls are done in the order in which it asks, those of several in
  // turn. unavailable, and nothing is kept, where too many wait already, or it is over.
  Status try_post(const std::string& caller, CallQueue::Share membership, Task call);
  // For what must not get lost: it always waits, may be told at any time, and is done before calls
  // that wait.
  void post(Task news);

  // What is to be done now: all news and one call, so that whoever takes them can look at the clock
  // behind each call. Waits for something, until `due`. Nothing at all: stop() has been called, and
  // all that had come before has been taken.
  std::optional<std::vector<Task>> take(std::optional<Time> due);
  // From any thread. Nobody is let in any more.
  void stop();

 private:
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Task> posted_;
  CallQueue calls_;
  bool stopped_ = false;
};

}  // namespace ibpod::sm::service
