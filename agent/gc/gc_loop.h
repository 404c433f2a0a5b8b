// Sweeping: the thread that sweeps, so that a plugin that takes its time holds up nobody else.
#pragma once

#include "lib/base/latest.h"
#include "agent/gc/garbage_collector.h"
#include "lib/base/clock.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ibpod::agent {

struct SweepReport {
  Pass pass;
  std::optional<Error> error;  // there was no list of records: the pass says nothing
};

class Sweeping {
 public:
  // On the sweeping thread: when the verdicts of a pass are in last(), and after each pass.
  using Judged = std::function<void()>;
  using Done = std::function<void(const SweepReport&)>;

  // Sweeps at once, then whenever `interval` has passed, a pass asks for it, or sweep() is called.
  Sweeping(World world, Duration interval, Judged judged, Done done);
  // Waits for the pass that is underway.
  ~Sweeping();
  Sweeping(const Sweeping&) = delete;
  Sweeping& operator=(const Sweeping&) = delete;

  // From any thread: something may have ended. Calls during a pass make one more pass. What a pass
  // could not release waits all the same (Sweeper).
  void sweep();
  // The same, and that pass tries again what waits: what was in the way has gone.
  void sweep_anew();
  void set_interval(Duration interval);
  // What the last pass found; its verdicts, while it is underway.
  std::shared_ptr<const Pass> last() const { return last_.get(); }
  // Waits for the first verdicts, or for the first pass to have failed. That takes as long as the
  // witnesses may (World).
  void await_verdicts();

 private:
  void run();
  void judged(const Pass& pass);
  void has_judged();
  Duration interval();
  void wait(std::optional<Duration> again);
  void rest(Deadline::Clock::time_point began);
  bool begin_next();

  Sweeper sweeper_;
  const Judged judged_;
  const Done done_;
  Latest<Pass> last_;
  std::mutex mutex_;
  std::condition_variable told_;
  Duration interval_;  // this and below: guarded by mutex_
  bool asked_ = false;
  bool anew_ = false;
  bool stopping_ = false;
  bool has_judged_ = false;
  std::thread thread_;
};

}  // namespace ibpod::agent
