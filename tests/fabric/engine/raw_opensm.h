// OpenSM by itself, without the engine, but with the same options: it is given whatever file, and
// asked to sweep.
#pragma once

#include "lib/fabric/partitions_conf.h"
#include "sm/opensm/log_tail.h"
#include "sm/opensm/opensm_conf.h"
#include "sm/opensm/opensm_log.h"
#include "sm/opensm/opensm_process.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

// The environment for an OpenSM on that host.
std::map<std::string, std::string> environment_of_opensm(unsigned host, const Path& cache);
// With SIGTERM, and SIGKILL where it hangs (tests/fabric/simulation.h).
void end_process(const sm::opensm::OpenSmProcess& process);

class RawOpenSm {
 public:
  // Starts with a good file.
  explicit RawOpenSm(sm::opensm::OpenSmSettings settings = with_both());
  RawOpenSm(const RawOpenSm&) = delete;
  RawOpenSm& operator=(const RawOpenSm&) = delete;
  RawOpenSm(RawOpenSm&&) = delete;
  RawOpenSm& operator=(RawOpenSm&&) = delete;
  ~RawOpenSm();

  // Replaces partitions.conf by `text` (nothing: removes it). Returns the log marks of the sweep
  // that read it; empty if OpenSM ended by it, and was started again.
  std::vector<sm::opensm::LogMark> read(const std::optional<std::string>& text);
  // The same, and waits for nothing.
  void ask_to_read(const std::optional<std::string>& text);
  // Until the sweep that was asked for has ended; the same.
  std::optional<std::vector<sm::opensm::LogMark>> finish_sweep();

  // Its partitions.conf, for another program that writes it.
  const Path& partitions() const { return paths_.partitions; }
  pid_t pid() const { return process_->pid(); }

 private:
  static sm::opensm::OpenSmSettings with_both();
  void start();
  TempFolder folder_;
  sm::opensm::OpenSmPaths paths_{folder_.path()};
  sm::opensm::LogTail log_{paths_.log};
  sm::opensm::LogReader reader_;
  std::optional<sm::opensm::OpenSmProcess> process_;
};

bool threw_away(const std::vector<sm::opensm::LogMark>& marks);

}  // namespace ibpod
