// Inbox: what other threads have for the one that watches: orders, answers and surveys.
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

namespace ibpod::sm {

enum class VisitId : uint64_t {};

struct Answered {
  VisitId visit{};
  std::vector<mad::Outcome<mad::Data>> outcomes;
};

struct Surveyed {
  Readings::Time begun;
  std::shared_ptr<const fabric::Topology> topology;
};

struct Mail {
  std::optional<std::set<ib::Guid>> hurry = {};
  std::vector<Repair> repairs = {};
  bool look = false;
  bool swept = false;
  std::vector<Answered> answered = {};
  std::optional<Surveyed> surveyed = {};
};

class Inbox {
 public:
  // From any thread: `put` changes what is waiting there.
  template <typename Put>
  void add(const Put& put) {
    const std::lock_guard lock(mutex_);
    put(mail_);
    filled_ = true;
    changed_.notify_one();
  }

  // Waits until there is something, or until `due`, or a stop. All that has come.
  Mail take(const std::stop_token& stop, std::optional<Deadline::Clock::time_point> due) {
    std::unique_lock lock(mutex_);
    const auto filled = [this] { return filled_; };
    if (due) {
      changed_.wait_until(lock, stop, *due, filled);
    } else {
      changed_.wait(lock, stop, filled);
    }
    filled_ = false;
    return std::exchange(mail_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool filled_ = false;
  Mail mail_;
};

}  // namespace ibpod::sm
