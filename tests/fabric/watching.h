// A TableWatch on the simulated subnet, and what it has seen.
#pragma once

#include "sm/probe/smp_port_prober.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace ibpod {

// Over the port of the host that the tests run on.
std::unique_ptr<mad::Scheduler> new_scheduler();

class Watching {
 public:
  Watching();

  mad::Scheduler& scheduler() { return *scheduler_; }
  sm::probe::SmpPortProber& watch() { return *watch_; }
  // Returns the next batch that fits, whatever comes before; the test fails if there is none for a
  // minute.
  sm::probe::ProbeBatch wait(const std::function<bool(const sm::probe::ProbeBatch&)>& fits);
  // The next whole one.
  sm::probe::ProbeBatch wait_for_all();

 private:
  std::unique_ptr<mad::Scheduler> scheduler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<sm::probe::ProbeBatch> seen_;
  std::unique_ptr<sm::probe::SmpPortProber> watch_;
};

// nullptr: there is none, or it has not been read.
const ib::PKeyTable* table_of(const sm::probe::ProbeBatch& readings, ib::Guid port);

}  // namespace ibpod
