// TaskInbox: tasks for the prober's thread from other threads: calls, answers and discoveries.
#pragma once

#include "lib/base/clock.h"
#include "lib/fabric/topology.h"
#include "lib/mad/request.h"
#include "sm/probe/probe_result.h"
#include "sm/probe/repair.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

namespace ibpod::sm::probe {

enum class ProbeId : uint64_t {};

struct ProbeAnswers {
  ProbeId probe{};
  std::vector<mad::Outcome<mad::Data>> outcomes;
};

struct DiscoveryDone {
  ProbeBatch::Time begun;
  std::shared_ptr<const fabric::Topology> topology;
};

struct Tasks {
  std::optional<std::set<ib::Guid>> polled = {};
  std::vector<Repair> repairs = {};
  bool rescan = false;
  bool swept = false;
  std::vector<ProbeAnswers> answered = {};
  std::optional<DiscoveryDone> discovered = {};
};

class TaskInbox {
 public:
  // From any thread. `put` changes the waiting tasks.
  template <typename Put>
  void add(const Put& put) {
    const std::lock_guard lock(mutex_);
    put(tasks_);
    filled_ = true;
    changed_.notify_one();
  }

  // Waits for a task, until `due`, or for a stop. Returns all waiting tasks.
  Tasks take(const std::stop_token& stop, std::optional<Deadline::Clock::time_point> due) {
    std::unique_lock lock(mutex_);
    const auto filled = [this] { return filled_; };
    if (due) {
      changed_.wait_until(lock, stop, *due, filled);
    } else {
      changed_.wait(lock, stop, filled);
    }
    filled_ = false;
    return std::exchange(tasks_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool filled_ = false;
  Tasks tasks_;
};

}  // namespace ibpod::sm::probe
