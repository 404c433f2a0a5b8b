// OpensmSupervisor: sees to it that there is an OpenSM: starts it and starts it again, or waits for
// one that others start.
#pragma once

#include "sm/opensm/opensm_conf.h"
#include "sm/opensm/opensm_process.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace ibpod::sm::opensm {

// An OpenSM that others start. Processes::check_opensm() says what its configuration has to have.
struct ExternalOpensm {
  Path pid_file;
  Path log;
};

struct SupervisorSettings {
  OpenSmSettings opensm;
  OpenSmLaunch launch;
  std::optional<ExternalOpensm> external;
  // Puts an OpenSM of ours, started or found, into a cgroup of its own: separate_cgroup(). Empty:
  // it stays where it is.
  std::function<Status(pid_t)> separate;
  Path proc = "/proc";
  // Between two starts, where the first did not last; doubles up to `most_pause`.
  Duration pause{1000};
  Duration most_pause{30000};
  Duration end_timeout{10000};  // with one that was asked to end
  // Between two tries to put right what is wrong with one that runs.
  Duration recheck{60000};
};

class OpensmSupervisor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Change { none, started, found, ended };

  OpensmSupervisor(SupervisorSettings settings, OpenSmPaths paths)
      : settings_(std::move(settings)), paths_(std::move(paths)), processes_(settings_.proc) {}

  // Checks OpenSM, and starts or finds it again. Our own one is restarted if its opensm.conf
  // differs from the settings. It is started only if the partitions are in place: without them
  // OpenSM makes every port a full member of the default partition. At most one change a call: call
  // until none.
  Change tick(Time now, bool partitions_in_place);
  // When look() may find something without an event.
  std::optional<Time> alarm() const;
  // -1: there is none.
  int fd() const { return process_ ? process_->fd() : -1; }
  Status hup() const;

  // Why there is none.
  const std::optional<Error>& fault() const { return fault_; }
  // There is, but it runs on another configuration.
  bool other_file() const { return other_file_; }
  // Why ours shares the cgroup of ibpod-sm with its memory limit.
  const std::optional<Error>& shared_cgroup() const { return shared_cgroup_; }
  // Why ours, which runs, could not be started again: others have access to a key file.
  const std::optional<Error>& start_refused() const { return start_refused_; }

 private:
  Result<Change> find();
  void separate();
  Result<bool> has_settings() const;
  Status check_settings(const OpenSmProcess& process);
  void recheck(Time now);
  Change end_process(Time now);
  Result<Change> start();
  Change notice_end(Time now);
  Result<std::optional<pid_t>> candidate() const;

  SupervisorSettings settings_;
  OpenSmPaths paths_;
  Processes processes_;
  std::optional<OpenSmProcess> process_;
  std::optional<Error> fault_;
  std::optional<Error> shared_cgroup_;
  std::optional<Error> start_refused_;
  bool other_file_ = false;
  bool waits_for_partitions_ = false;  // for partitions
  bool ending_ = false;                // asked to end, so as to be started again
  Time since_{};                       // the process's, or our knowing of it
  Time next_{};                        // not before it is there anything to look for
  Time recheck_{};                     // of what is wrong though there is one
  Duration pause_{0};
};

}  // namespace ibpod::sm::opensm
