// OpenSM as a process: started in its own session, so that the next ibpod-sm finds it again; or
// started by another process, and checked before it is used.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/fabric/partitions_conf.h"

#include <map>
#include <optional>
#include <string>

#include <sys/types.h>

namespace ibpod::sm::opensm {

struct OpenSmLaunch {
  Path program = "/usr/sbin/opensm";
  // All of it: nothing is inherited.
  std::map<std::string, std::string> environment;
};

// It outlives this object, and this process.
class OpenSmProcess {
 public:
  // `PROGRAM -F conf` in the folder, without standard streams: OpenSM prints its keys.
  static Result<OpenSmProcess> start(const OpenSmLaunch& launch, const Path& conf,
                                     const Path& folder);
  // One that runs already; not_found where it does not.
  static Result<OpenSmProcess> adopt(pid_t pid);

  pid_t pid() const { return pid_; }
  // Readable once it has ended.
  int fd() const { return fd_.get(); }
  bool ended() const;
  // Takes the exit status of a child that has ended, so that nothing is left of it.
  void reap() const;
  Status hup() const;
  // Asks it to end; or, with `kill`, does not ask.
  Status end(bool kill) const;

 private:
  Status send(int signal, const char* name) const;
  OpenSmProcess(pid_t pid, Fd fd) : pid_(pid), fd_(std::move(fd)) {}
  pid_t pid_;
  Fd fd_;
};

// The processes of a machine, as /proc shows them.
class Processes {
 public:
  explicit Processes(Path proc) : proc_(std::move(proc)) {}

  // The OpenSM that was started with this configuration file, by a service like us: a process of
  // our user and PID namespace that executes `program`. Its command line alone says nothing: every
  // process can have that one. The mount namespace may be another: a service gets a new one at each
  // start.
  Result<std::optional<pid_t>> find_opensm(const Path& conf, const Path& program) const;
  // True if the process is the OpenSM with this opensm.conf and program.
  bool is_opensm_of(pid_t pid, const Path& conf, const Path& program) const;

  // ok if the process is an OpenSM of our user and PID namespace, executes a program named opensm,
  // or `desired.program`, that others cannot write, reads `desired.partitions` with
  // `desired.options`, enforces them, and writes the lines that LogReader needs to `desired.log`.
  // The error says what it is, or which option must change. Its paths are those of its own mount
  // namespace.
  struct ExpectedOpensm {
    Path partitions;
    Path log;
    fabric::OpenSmOptions options;
    Path program;
  };
  Status check_opensm(pid_t pid, const ExpectedOpensm& desired) const;

 private:
  Result<std::vector<std::string>> words_of(pid_t pid) const;
  bool is_of_our_user(pid_t pid) const;
  bool is_in_our_pid_namespace(pid_t pid) const;
  std::string executable_of(pid_t pid) const;
  bool has_trusted_executable(pid_t pid) const;
  bool executes(pid_t pid, const Path& program) const;
  Status check_identity(pid_t pid, const Path& program) const;
  Path seen_by(pid_t pid, const Path& path) const;
  Result<std::string> read_seen_by(pid_t pid, const Path& path) const;
  bool is_file(pid_t pid, const Path& theirs, const Path& ours) const;
  Path proc_;
};

// The number in a file that a daemon writes; denied when others can write or replace the file.
Result<pid_t> read_pid_file(const Path& path);

}  // namespace ibpod::sm::opensm
