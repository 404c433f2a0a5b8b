#include "sm/opensm/opensm_supervisor.h"

#include "lib/base/files.h"

#include <algorithm>

#include <sys/stat.h>

namespace ibpod::sm::opensm {
namespace {

// The interval of the checks for an OpenSM that another process starts: only its pid file shows it.
constexpr Duration kLookAgain{500};
// A process that has lived this long may be started again at once.
constexpr std::chrono::seconds kLasting{10};

}  // namespace

Result<std::optional<pid_t>> OpensmSupervisor::candidate() const {
  if (!settings_.external) return processes_.find_opensm(paths_.conf, settings_.launch.program);
  const pid_t pid = TRY(read_pid_file(settings_.external->pid_file));
  return std::optional<pid_t>(pid);
}

Result<OpensmSupervisor::Change> OpensmSupervisor::find() {
  const std::optional<pid_t> pid = TRY(candidate());
  if (!pid) return Change::none;
  OpenSmProcess process = TRY(OpenSmProcess::adopt(*pid));
  if (!settings_.external) {
    // The PID may belong to another process since.
    if (!processes_.is_opensm_of(*pid, paths_.conf, settings_.launch.program)) return Change::none;
    const Status same = check_settings(process);
    if (ending_) process_ = std::move(process);
    if (!same) return same.error();
  }
  // Checked after the adoption: before it, the PID may have been another process's.
  const Status fits = processes_.check_opensm(
      *pid,
      {paths_.partitions, paths_.log, options_of(settings_.opensm), settings_.launch.program});
  other_file_ = !fits.ok();
  if (!fits) return fits.error();
  process_ = std::move(process);
  return Change::found;
}

// Stops an OpenSM of ours that has other settings. If others have access to a key file, the
// settings are unknown and OpenSM stays: without it no binding would be applied.
Status OpensmSupervisor::check_settings(const OpenSmProcess& process) {
  start_refused_.reset();
  const auto same = has_settings();
  if (!same && same.error().code() == Code::denied) {
    start_refused_ = same.error();
    return ok();
  }
  other_file_ = !same.ok();
  if (!same) return same.error();
  if (*same) return ok();
  TRY(process.end(false));
  ending_ = true;
  return Error(Code::unavailable, "OpenSM runs with other settings: ibpod-sm restarts it");
}

// Only starts of OpenSM write opensm.conf, so the file has the settings of the running OpenSM.
Result<bool> OpensmSupervisor::has_settings() const {
  const std::string conf = TRY(render_opensm_conf(settings_.opensm, paths_));
  const auto there = read_file(paths_.conf);
  const auto modules = read_file(paths_.modules);
  return there && *there == conf && modules && *modules == opensm_modules();
}

Result<OpensmSupervisor::Change> OpensmSupervisor::start() {
  if (settings_.external) return Change::none;
  const std::string conf = TRY(render_opensm_conf(settings_.opensm, paths_));
  TRY(make_folders(paths_.cache));
  // OpenSM keeps M_Keys there, and its files have any mode.
  TRY(sys("restrict " + paths_.cache.string(),
          [&] { return ::chmod(paths_.cache.c_str(), S_IRWXU); }));
  TRY(write_file_atomically(paths_.modules, opensm_modules()));
  TRY(write_file_atomically(paths_.conf, conf));
  OpenSmLaunch launch = settings_.launch;
  // No option sets the folder of OpenSM's persistent files, such as the ports' M_Keys.
  launch.environment.try_emplace("OSM_CACHE_DIR", paths_.cache.string());
  process_ = TRY(OpenSmProcess::start(launch, paths_.conf, paths_.cache));
  start_refused_.reset();
  return Change::started;
}

void OpensmSupervisor::separate() {
  shared_cgroup_.reset();
  if (settings_.external || !settings_.separate) return;
  if (const Status done = settings_.separate(process_->pid()); !done) shared_cgroup_ = done.error();
}

// A fault at the start may have been corrected since: a key file's mode, or a slow systemd.
void OpensmSupervisor::recheck(Time now) {
  if ((!shared_cgroup_ && !start_refused_) || now < recheck_) return;
  recheck_ = now + settings_.recheck;
  if (shared_cgroup_) separate();
  if (!start_refused_) return;
  const Status same = check_settings(*process_);
  if (!same) fault_ = same.error();
  if (ending_) since_ = now;
}

OpensmSupervisor::Change OpensmSupervisor::end_process(Time now) {
  if (!process_->ended()) {
    if (now < since_ + settings_.end_timeout) return Change::none;
    since_ = now;
    (void)process_->end(true);  // fails if it has just ended
    return Change::none;
  }
  process_->reap();
  process_.reset();
  ending_ = false;
  next_ = now;
  return Change::ended;
}

OpensmSupervisor::Change OpensmSupervisor::notice_end(Time now) {
  if (!process_->ended()) return Change::none;
  process_->reap();
  process_.reset();
  start_refused_.reset();
  const bool lasted = now - since_ >= kLasting;
  pause_ = lasted ? Duration(0) : std::clamp(2 * pause_, settings_.pause, settings_.most_pause);
  next_ = now + (settings_.external ? Duration(0) : pause_);
  fault_ = Error(Code::unavailable, "OpenSM has ended: see " + paths_.log.string());
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
      change && *change == Change::none && !settings_.external && !partitions_in_place;
  if (waits_for_partitions_) return Change::none;
  if (change && *change == Change::none) change = start();
  next_ = now + (settings_.external ? kLookAgain : settings_.pause);
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
  if (process_ && (shared_cgroup_ || start_refused_)) return recheck_;
  if (process_ || waits_for_partitions_) return std::nullopt;
  return next_;
}

Status OpensmSupervisor::hup() const {
  if (!process_ || ending_) return Error(Code::not_found, "OpenSM is not running");
  return process_->hup();
}

}  // namespace ibpod::sm::opensm
