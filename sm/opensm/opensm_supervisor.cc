#include "sm/opensm/opensm_supervisor.h"

#include <algorithm>

namespace ibpod::sm::opensm {
namespace {

// The interval of the checks for an OpenSM that another process starts: only its pid file shows it.
constexpr Duration kLookAgain{500};
// A process that has lived this long may be started again at once.
constexpr std::chrono::seconds kLasting{10};

}  // namespace

Result<OpensmSupervisor::Change> OpensmSupervisor::find() {
  std::optional<OpenSmProcess> found = TRY(launcher_.find());
  if (!found) return Change::none;
  if (!launcher_.is_external()) {
    if (const Status same = check_settings(*found); !same) {
      if (ending_) process_ = std::move(found);
      return same.error();
    }
  }
  // Checked after the adoption: before it, the PID may have been another process's.
  const Status fits = launcher_.check(*found);
  other_file_ = !fits.ok();
  if (!fits) return fits.error();
  process_ = std::move(found);
  return Change::found;
}

// Stops an OpenSM of ours that has other settings. If they are unknown, OpenSM stays: without it no
// binding would be applied.
Status OpensmSupervisor::check_settings(const OpenSmProcess& process) {
  const auto same = launcher_.has_settings();
  other_file_ = !same.ok();
  if (!same) return same.error();
  if (*same) return ok();
  TRY(process.end(false));
  ending_ = true;
  return Error(Code::unavailable, "OpenSM runs with other settings: ibpod-sm restarts it");
}

Result<OpensmSupervisor::Change> OpensmSupervisor::start() {
  if (launcher_.is_external()) return Change::none;
  process_ = TRY(launcher_.start());
  return Change::started;
}

void OpensmSupervisor::separate() {
  shared_cgroup_.reset();
  if (launcher_.is_external() || !settings_.separate) return;
  if (const Status done = settings_.separate(process_->pid()); !done) shared_cgroup_ = done.error();
}

// A fault at the start may have been corrected since: a key file's mode, or a slow systemd.
void OpensmSupervisor::recheck(Time now) {
  if ((!shared_cgroup_ && !start_refused()) || now < recheck_) return;
  recheck_ = now + settings_.recheck;
  if (shared_cgroup_) separate();
  if (!start_refused()) return;
  const Status same = check_settings(*process_);
  if (!same) fault_ = same.error();
  if (ending_) since_ = now;
}

void OpensmSupervisor::reap() {
  process_->reap();
  process_.reset();
  launcher_.note_end();
}

OpensmSupervisor::Change OpensmSupervisor::end_process(Time now) {
  if (!process_->ended()) {
    if (now < since_ + settings_.end_timeout) return Change::none;
    since_ = now;
    (void)process_->end(true);  // fails if it has just ended
    return Change::none;
  }
  reap();
  ending_ = false;
  next_ = now;
  return Change::ended;
}

OpensmSupervisor::Change OpensmSupervisor::notice_end(Time now) {
  if (!process_->ended()) return Change::none;
  reap();
  const bool lasted = now - since_ >= kLasting;
  pause_ = lasted ? Duration(0) : std::clamp(2 * pause_, settings_.pause, settings_.most_pause);
  next_ = now + (launcher_.is_external() ? Duration(0) : pause_);
  fault_ = Error(Code::unavailable, "OpenSM has ended: see " + launcher_.log().string());
  return Change::ended;
}

OpensmSupervisor::Change OpensmSupervisor::tick(Time now, bool partitions_in_place) {
  if (ending_) return end_process(now);
  if (process_) {
    const Change change = notice_end(now);
    if (process_) recheck(now);
    return change;
  }
  if (now < next_) return Change::none;
  other_file_ = false;
  auto change = find();
  waits_for_partitions_ =
      change && *change == Change::none && !launcher_.is_external() && !partitions_in_place;
  if (waits_for_partitions_) return Change::none;
  if (change && *change == Change::none) change = start();
  next_ = now + (launcher_.is_external() ? kLookAgain : settings_.pause);
  since_ = now;
  if (!change) {
    fault_ = std::move(change).error();
    return Change::none;
  }
  if (*change == Change::none) return Change::none;
  fault_.reset();
  separate();
  recheck_ = now + settings_.recheck;
  return *change;
}

std::optional<OpensmSupervisor::Time> OpensmSupervisor::alarm() const {
  if (ending_) return since_ + settings_.end_timeout;
  if (process_ && (shared_cgroup_ || start_refused())) return recheck_;
  if (process_ || waits_for_partitions_) return std::nullopt;
  return next_;
}

Status OpensmSupervisor::hup() const {
  if (!process_ || ending_) return Error(Code::not_found, "OpenSM is not running");
  return process_->hup();
}

}  // namespace ibpod::sm::opensm
