// OpensmEvents: what the engine's thread waits for: a call of another thread, a change of a file,
// OpenSM's end, and a time.
#pragma once

#include "lib/base/files.h"
#include "lib/base/folder_watch.h"
#include "lib/base/result.h"
#include "lib/base/wake.h"

#include <chrono>
#include <optional>
#include <vector>

namespace ibpod::sm::opensm {

class OpensmEvents {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The files need not exist, but their folders must.
  static Result<OpensmEvents> watch(const std::vector<Path>& files);

  // From any thread: ends the present wait(), or the next one.
  void ring() const { wake_.ring(); }
  // Waits for ring(), a change of a file since watch() or the last wait(), or the time; also for
  // the end of a process, by its descriptor (-1: there is none). May return early.
  void wait(int process, std::optional<Time> until) const;

 private:
  OpensmEvents(Wake wake, FolderWatch files) : wake_(std::move(wake)), files_(std::move(files)) {}
  Wake wake_;
  FolderWatch files_;
};

}  // namespace ibpod::sm::opensm
