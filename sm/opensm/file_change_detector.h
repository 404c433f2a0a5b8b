// FileChangeDetector: detects that a file may have changed, without reading it.
#pragma once

#include "lib/base/files.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace ibpod::sm::opensm {

class FileChangeDetector {
 public:
  using Time = std::chrono::system_clock::time_point;

  // The file need not exist.
  explicit FileChangeDetector(Path path) : path_(std::move(path)) {}

  // True at the first call, and if the file may have changed since the last one. `now` is the time
  // of the call, on the clock of the file's time stamps.
  bool changed(Time now);
  // The next changed() is true.
  void reset() { seen_.reset(); }

 private:
  struct Stamp {
    uint64_t inode = 0;
    int64_t size = -1;
    int64_t changed = 0;  // ns since 1970
    bool operator==(const Stamp&) const = default;
  };
  Path path_;
  std::optional<Stamp> seen_;
};

}  // namespace ibpod::sm::opensm
