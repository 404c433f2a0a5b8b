#include "sm/opensm/opensm_launcher.h"

#include "lib/base/files.h"

#include <string>

#include <sys/stat.h>

namespace ibpod::sm::opensm {

Result<std::optional<OpenSmProcess>> OpensmLauncher::find() const {
  const Path& program = settings_.launch.program;
  std::optional<pid_t> pid;
  if (settings_.external)
    pid = TRY(read_pid_file(settings_.external->pid_file));
  else
    pid = TRY(processes_.find_opensm(paths_.conf, program));
  if (!pid) return std::optional<OpenSmProcess>();
  OpenSmProcess process = TRY(OpenSmProcess::adopt(*pid));
  // The PID may belong to another process since.
  if (!settings_.external && !processes_.is_opensm_of(*pid, paths_.conf, program))
    return std::optional<OpenSmProcess>();
  return std::optional<OpenSmProcess>(std::move(process));
}

Status OpensmLauncher::check(const OpenSmProcess& process) const {
  return processes_.check_opensm(
      process.pid(),
      {paths_.partitions, paths_.log, options_of(settings_.opensm), settings_.launch.program});
}

Result<bool> OpensmLauncher::has_settings() {
  Result<bool> same = is_in_place();
  const bool was_unknown = start_refused_.has_value();
  start_refused_.reset();
  if (same || (same.error().code() != Code::denied && !was_unknown)) return same;
  start_refused_ = std::move(same).error();
  return true;
}

// True if opensm.conf and modules.conf are as start() would write them.
Result<bool> OpensmLauncher::is_in_place() const {
  const std::string conf = TRY(render_opensm_conf(settings_.opensm, paths_));
  const auto there = read_file(paths_.conf);
  const auto modules = read_file(paths_.modules);
  return there && *there == conf && modules && *modules == opensm_modules();
}

Result<OpenSmProcess> OpensmLauncher::start() {
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
  OpenSmProcess started = TRY(OpenSmProcess::start(launch, paths_.conf, paths_.cache));
  start_refused_.reset();
  return started;
}

}  // namespace ibpod::sm::opensm
