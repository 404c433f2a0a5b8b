// OpenSM as a process: either started in its own session, so that the next ibpod-sm can find it; or
// started by another process, and checked before use.
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
  // The whole environment: nothing is inherited.
  std::map<std::string, std::string> environment;
};

// The process outlives this object, and this process.
class OpenSmProcess {
 public:
  // Runs `PROGRAM -F conf` in the folder, without standard streams, as OpenSM prints its keys.
  static Result<OpenSmProcess> start(const OpenSmLaunch& launch, const Path& conf,
                                     const Path& folder);
  // A running process; not_found if there is none.
  static Result<OpenSmProcess> adopt(pid_t pid);

  pid_t pid() const { return pid_; }
  // Readable once the process has ended.
  int fd() const { return fd_.get(); }
  bool ended() const;
  // Reaps a child that has ended.
  void reap() const;
  Status hup() const;
  // Sends SIGTERM; SIGKILL if `kill`.
  Status end(bool kill) const;

 private:
  Status send(int signal, const char* name) const;
  OpenSmProcess(pid_t pid, Fd fd) : pid_(pid), fd_(std::move(fd)) {}
  pid_t pid_;
  Fd fd_;
};

// The processes of a machine, from /proc.
class Processes {
 public:
  explicit Processes(Path proc) : proc_(std::move(proc)) {}

  // The OpenSM that a service like this one started with `conf`: a process of our user and PID
  // namespace that executes `program`. The command line alone proves nothing, as any process can
  // have it. The mount namespace may differ: a service gets a new one at each start.
  Result<std::optional<pid_t>> find_opensm(const Path& conf, const Path& program) const;
  // True if the process is the OpenSM with this opensm.conf and program.
  bool is_opensm_of(pid_t pid, const Path& conf, const Path& program) const;

  // ok if the process is an OpenSM of our user and PID namespace, executes `desired.program` or a
  // program named opensm that others cannot write, and has the desired file, options, log and log
  // lines. The error names the fault or the option to change. Paths are in its mount namespace.
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

// The number in a daemon's PID file; denied if others can write or replace the file.
Result<pid_t> read_pid_file(const Path& path);

}  // namespace ibpod::sm::opensm
