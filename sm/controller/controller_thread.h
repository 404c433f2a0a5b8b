// ControllerThread: the thread of the controller, and the queue of its tasks: calls, and events of
// the subnet manager, the prober and the declared file.
#pragma once

#include "sm/api/task_queue.h"
#include "sm/controller/controller.h"
#include "sm/partitions/declared_partitions.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ibpod::sm::controller {

// The current time.
state::Now system_time();

class ControllerThread {
 public:
  // `limits`: of waiting calls; further ones are unavailable.
  explicit ControllerThread(api::CallQueue::Limits limits = {}) : tasks_(limits) {}
  // stop().
  ~ControllerThread();
  ControllerThread(const ControllerThread&) = delete;
  ControllerThread& operator=(const ControllerThread&) = delete;
  ControllerThread(ControllerThread&&) = delete;
  ControllerThread& operator=(ControllerThread&&) = delete;

  // Starts to answer calls. Until stop(), only this thread may use `controller`.
  void start(Controller& controller);
  // Completes the queued calls and accepts no more. Calls that wait for a state are answered when
  // the controller is destroyed. Must not be called on its own thread.
  void stop();
  // The tasks of the thread, which wait until start().
  api::TaskQueue& tasks() { return tasks_; }

  // Events, also before start().
  void engine_changed();
  void probed(probe::ProbeBatch readings);
  void declared(partitions::DeclaredPartitions declared);
  void declared_unreadable(std::string why);
  // Runs `work` on the thread, between ticks. It is not limited by the number of waiting calls: the
  // caller must limit its own. False if it cannot run before the deadline.
  bool run(const std::function<void(Controller&)>& work, Deadline deadline);
  // The age of the current tick; 0 while the thread waits. Thread-safe; returns at once.
  Duration time_in_tick() const;

 private:
  void tick(std::optional<std::vector<api::TaskQueue::Task>> tasks);
  void run_tasks();

  api::TaskQueue tasks_;
  std::atomic<Deadline::Clock::rep> tick_began_{0};  // 0: the thread waits
  Controller* controller_ = nullptr;
  std::thread thread_;
};

}  // namespace ibpod::sm::controller
