// GcLoop: the thread of garbage collection, so that a slow plugin delays no other thread.
#pragma once

#include "agent/gc/garbage_collector.h"
#include "lib/base/clock.h"
#include "lib/base/latest.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ibpod::agent::gc {

struct GcReport {
  GcRun gc_run;
  std::optional<Error> error;  // there was no list of records: the pass says nothing
};

class GcLoop {
 public:
  // On the loop's thread: when the verdicts of a pass are in last(), and after each pass.
  using OnVerdicts = std::function<void()>;
  using OnDone = std::function<void(const GcReport&)>;

  // Makes a pass at once, then whenever `interval` has passed, a pass asks for the next one, or
  // request_run() is called.
  GcLoop(GcDeps deps, Duration interval, OnVerdicts judged, OnDone done);
  // Waits for the pass that is underway.
  ~GcLoop();
  GcLoop(const GcLoop&) = delete;
  GcLoop& operator=(const GcLoop&) = delete;

  // From any thread: an attachment may have ended. Calls during a pass make one more pass. A failed
  // release still waits for its pause (GarbageCollector).
  void request_run();
  // The same, but that pass ends all pauses: the cause of the failures has gone.
  void request_retry();
  void set_interval(Duration interval);
  // The result of the last run; its verdicts, while it is underway.
  std::shared_ptr<const GcRun> last_run() const { return last_.get(); }
  // Waits for the first verdicts, or for the first pass to have failed. That takes as long as the
  // kubelet and the runtime take to answer.
  void await_verdicts();

 private:
  void run();
  void publish_verdicts(const GcRun& gc_run);
  void set_verdicts_known();
  Duration interval();
  void wait(std::optional<Duration> again);
  void pause_after(Deadline::Clock::time_point began);
  bool begin_next_run();

  GarbageCollector collector_;
  const OnVerdicts on_verdicts_;
  const OnDone on_done_;
  Latest<GcRun> last_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Duration interval_;  // this and below: guarded by mutex_
  bool run_requested_ = false;
  bool retry_requested_ = false;
  bool stopping_ = false;
  bool verdicts_known_ = false;
  std::thread thread_;
};

}  // namespace ibpod::agent::gc
