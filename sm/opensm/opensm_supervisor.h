// OpensmSupervisor: keeps an OpenSM running: starts and restarts it, or waits for one that another
// process starts.
#pragma once

#include "sm/opensm/opensm_launcher.h"
#include "sm/opensm/opensm_process.h"

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace ibpod::sm::opensm {

struct SupervisorSettings {
  // Puts an OpenSM of ours, started or found, into a cgroup of its own: separate_cgroup(). Empty:
  // it is not moved.
  std::function<Status(pid_t)> separate;
  // The pause before a restart if the last process did not live long; doubles up to `most_pause`.
  Duration pause{1000};
  Duration most_pause{30000};
  Duration end_timeout{10000};  // after which a process that was asked to end is killed
  // The interval of retries to correct a fault of a running OpenSM.
  Duration recheck{60000};
};

class OpensmSupervisor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Change { none, started, found, ended };

  OpensmSupervisor(SupervisorSettings settings, OpensmLauncher launcher)
      : settings_(std::move(settings)), launcher_(std::move(launcher)) {}

  // Checks OpenSM, and starts or finds it again. Our own is restarted if it has other settings, and
  // started only if the partitions are in place: without them OpenSM makes every port a full member
  // of the default partition. One change per call: call until none.
  Change tick(Time now, bool partitions_in_place);
  // When tick() may find a change without an event.
  std::optional<Time> alarm() const;
  // -1: there is no process.
  int fd() const { return process_ ? process_->fd() : -1; }
  Status hup() const;

  // Why OpenSM does not run.
  const std::optional<Error>& fault() const { return fault_; }
  // True if OpenSM runs, but on another configuration.
  bool other_file() const { return other_file_; }
  // Why our OpenSM shares the cgroup of ibpod-sm with its memory limit.
  const std::optional<Error>& shared_cgroup() const { return shared_cgroup_; }
  // Why our running OpenSM could not be started again: others have access to a key file.
  const std::optional<Error>& start_refused() const { return launcher_.start_refused(); }

 private:
  Result<Change> find();
  void separate();
  Status check_settings(const OpenSmProcess& process);
  void recheck(Time now);
  Change end_process(Time now);
  Result<Change> start();
  void reap();
  Change notice_end(Time now);

  SupervisorSettings settings_;
  OpensmLauncher launcher_;
  std::optional<OpenSmProcess> process_;
  std::optional<Error> fault_;
  std::optional<Error> shared_cgroup_;
  bool other_file_ = false;
  bool waits_for_partitions_ = false;  // for the partitions to be in place
  bool ending_ = false;                // asked to end, for a restart
  Time since_{};                       // start of the process, or when it was found
  Time next_{};                        // time of the next start or search
  Time recheck_{};                     // time of the next recheck()
  Duration pause_{0};
};

}  // namespace ibpod::sm::opensm
