// OpensmLauncher: finds the OpenSM that serves our partitions, and starts one with our settings.
//
// opensm.conf has the settings of our running OpenSM: only start() writes the file. So settings are
// compared with the file, also by the next ibpod-sm.
#pragma once

#include "sm/opensm/opensm_conf.h"
#include "sm/opensm/opensm_process.h"

#include <optional>
#include <utility>

namespace ibpod::sm::opensm {

// An OpenSM that another process starts. Processes::check_opensm() checks its configuration.
struct ExternalOpensm {
  Path pid_file;
  Path log;
};

struct LauncherSettings {
  OpenSmSettings opensm;
  OpenSmLaunch launch;
  std::optional<ExternalOpensm> external;
  Path proc = "/proc";
};

class OpensmLauncher {
 public:
  OpensmLauncher(LauncherSettings settings, OpenSmPaths paths)
      : settings_(std::move(settings)), paths_(std::move(paths)), processes_(settings_.proc) {}

  // True if another process starts OpenSM: then start() and has_settings() must not be called.
  bool is_external() const { return settings_.external.has_value(); }
  const Path& log() const { return paths_.log; }

  // Our running OpenSM; nothing: there is none. An external one is named by its PID file: an error
  // if the file or the process is missing.
  Result<std::optional<OpenSmProcess>> find() const;
  // ok if the process uses our partitions, log and options (Processes::check_opensm()).
  Status check(const OpenSmProcess& process) const;
  // False if our running OpenSM has other settings. If others have access to a key file, the
  // settings are unknown: then it returns true, and start_refused() has the reason. They stay
  // unknown after any other error, too, as when the file is missing for a moment.
  Result<bool> has_settings();
  // Writes opensm.conf and starts OpenSM with it. Call it only while no OpenSM of ours runs. The
  // file stays as it is if the settings are invalid.
  Result<OpenSmProcess> start();
  // Our OpenSM has ended.
  void note_end() { start_refused_.reset(); }

  // Why our running OpenSM could not be started again: others have, or had, access to a key file.
  const std::optional<Error>& start_refused() const { return start_refused_; }

 private:
  Result<bool> is_in_place() const;

  LauncherSettings settings_;
  OpenSmPaths paths_;
  Processes processes_;
  std::optional<Error> start_refused_;
};

}  // namespace ibpod::sm::opensm
