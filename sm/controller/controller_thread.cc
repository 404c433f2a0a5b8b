#include "sm/controller/controller_thread.h"

#include <condition_variable>
#include <mutex>

namespace ibpod::sm::controller {
namespace {

// A tick takes no more calls after this time; the one that has begun is completed.
constexpr Duration kLongestIntake{20};

}  // namespace

state::Now system_time() {
  return {std::chrono::steady_clock::now(),
          std::chrono::floor<Duration>(std::chrono::system_clock::now())};
}

ControllerThread::~ControllerThread() { stop(); }

void ControllerThread::start(Controller& controller) {
  controller_ = &controller;
  thread_ = std::thread([this] { run_tasks(); });
}

void ControllerThread::stop() {
  tasks_.stop();
  if (thread_.joinable()) thread_.join();
}

// Waiting calls share one commit to disk, up to a time limit: a caller with few calls must not wait
// for a tick that others make long.
void ControllerThread::tick(std::optional<std::vector<api::TaskQueue::Task>> tasks) {
  const Deadline::Clock::time_point began = Deadline::Clock::now();
  tick_began_ = began.time_since_epoch().count();
  do {
    controller_->set_time(system_time());
    for (const api::TaskQueue::Task& task : *tasks) task();
    if (Deadline::Clock::now() - began >= kLongestIntake) break;
    tasks = tasks_.take(began);
  } while (tasks && !tasks->empty());
  controller_->tick();
  tick_began_ = 0;
}

void ControllerThread::run_tasks() {
  tick(std::vector<api::TaskQueue::Task>());
  while (auto tasks = tasks_.take(controller_->due())) tick(std::move(tasks));
}

Duration ControllerThread::time_in_tick() const {
  const Deadline::Clock::rep began = tick_began_;
  if (began == 0) return Duration(0);
  const Deadline::Clock::time_point since{Deadline::Clock::duration(began)};
  return std::chrono::duration_cast<Duration>(Deadline::Clock::now() - since);
}

void ControllerThread::engine_changed() {
  tasks_.post([this] { controller_->engine_changed(); });
}

void ControllerThread::probed(probe::ProbeBatch readings) {
  tasks_.post([this, readings = std::move(readings)] { controller_->probed(readings); });
}

void ControllerThread::declared(partitions::DeclaredPartitions declared) {
  tasks_.post([this, declared = std::move(declared)] { controller_->declare(declared); });
}

void ControllerThread::declared_unreadable(std::string why) {
  tasks_.post([this, why = std::move(why)] { controller_->declared_unreadable(why); });
}

bool ControllerThread::run(const std::function<void(Controller&)>& work, Deadline deadline) {
  // Work must not run after its caller has given up.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void(Controller&)>* work;
    bool done = false;
  };
  const auto shared = std::make_shared<Shared>();
  shared->work = &work;
  tasks_.post([this, shared] {
    const std::lock_guard lock(shared->mutex);
    if (shared->work == nullptr) return;
    (*shared->work)(*controller_);
    shared->done = true;
    shared->changed.notify_one();
  });
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_until(lock, deadline.time(), [&] { return shared->done; });
  shared->work = nullptr;
  return shared->done;
}

}  // namespace ibpod::sm::controller
