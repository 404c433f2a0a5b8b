// LogFollower: the marks in OpenSM's log, as OpenSM appends them.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "sm/opensm/log_tail.h"
#include "sm/opensm/opensm_log.h"

#include <optional>
#include <vector>

namespace ibpod::sm::opensm {

class LogFollower {
 public:
  // The file need not exist yet.
  explicit LogFollower(Path path) : path_(path), tail_(std::move(path)) {}

  const Path& path() const { return path_; }
  // Skips the present content.
  Status skip() { return tail_.skip(0); }
  struct Part {
    bool lost = false;  // lines before it are lost
    std::vector<LogMark> marks;
  };
  // The next part; nothing at the end of the log, and if it cannot be read.
  std::optional<Part> read();
  // Another process writes from here on: OpenSM was just started.
  void restart() { reader_.restart(); }
  // The marks of the process that wrote last, as far as the end of the log shows them. read()
  // continues after them.
  std::vector<LogMark> reread();

 private:
  Path path_;
  LogTail tail_;
  LogReader reader_;
};

}  // namespace ibpod::sm::opensm
