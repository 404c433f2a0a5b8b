// RunningProbes: the probes that wait for answers. It sends their requests, and the answers come to
// the inbox.
#pragma once

#include "lib/mad/scheduler.h"
#include "sm/probe/port_probe.h"
#include "sm/probe/task_inbox.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ibpod::sm::probe {

struct RunningProbe {
  PortProbe probe;
  ProbeBatch::Time begun;
  bool of_scan = false;
  bool of_repair = false;
  size_t packets = 0;  // SMPs sent, without retries
};

// For the prober's thread.
class RunningProbes {
 public:
  // The scheduler outlives it. Answers may come to the inbox after it is destroyed.
  RunningProbes(mad::Scheduler& scheduler, std::shared_ptr<TaskInbox> inbox)
      : scheduler_(scheduler), inbox_(std::move(inbox)) {}

  // Both send the next requests of a probe, and return it if it has ended. `answered` is of a probe
  // that runs, once for each of its steps.
  std::optional<RunningProbe> start(RunningProbe probe);
  std::optional<RunningProbe> step(const ProbeAnswers& answered) {
    return step(answered.probe, answered.outcomes);
  }

 private:
  std::optional<RunningProbe> step(ProbeId id, const PortProbe::Answers& answers);

  mad::Scheduler& scheduler_;
  std::shared_ptr<TaskInbox> inbox_;
  uint64_t last_ = 0;
  std::unordered_map<ProbeId, RunningProbe> probes_;
};

}  // namespace ibpod::sm::probe
