// OpenSM by itself, without the engine, but with the same options: it is given whatever file, and
// asked to sweep.
#pragma once

#include "lib/fabric/partitions_conf.h"
#include "sm/engine/log_tail.h"
#include "sm/engine/opensm_conf.h"
#include "sm/engine/opensm_log.h"
#include "sm/engine/opensm_process.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

// What OpenSM is to be given to be on that host.
std::map<std::string, std::string> environment_of_opensm(unsigned host, const Path& cache);
// With SIGTERM, and SIGKILL where it hangs (tests/fabric/simulation.h).
void end_process(const sm::engine::OpenSmProcess& process);

class RawOpenSm {
 public:
  // Starts with a good file.
  explicit RawOpenSm(sm::engine::OpenSmSettings settings = with_both());
  RawOpenSm(const RawOpenSm&) = delete;
  RawOpenSm& operator=(const RawOpenSm&) = delete;
  RawOpenSm(RawOpenSm&&) = delete;
  RawOpenSm& operator=(RawOpenSm&&) = delete;
  ~RawOpenSm();

  // Nothing: there is no file. What the sweep that read it has said; nothing where OpenSM has
  // ended by it, and was started again.
  std::vector<sm::engine::LogMark> read(const std::optional<std::string>& text);
  // The same, and waits for nothing.
  void ask_to_read(const std::optional<std::string>& text);
  // Until the sweep that was asked for has ended; the same.
  std::optional<std::vector<sm::engine::LogMark>> finish_sweep();

 private:
  static sm::engine::OpenSmSettings with_both();
  void start();
  TempFolder folder_;
  sm::engine::OpenSmPaths paths_{folder_.path()};
  sm::engine::LogTail log_{paths_.log};
  sm::engine::LogReader reader_;
  std::optional<sm::engine::OpenSmProcess> process_;
};

bool threw_away(const std::vector<sm::engine::LogMark>& marks);

}  // namespace ibpod
