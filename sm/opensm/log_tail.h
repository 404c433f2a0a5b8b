// LogTail: reads the bytes appended to a file that other processes may truncate, rename or remove.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace ibpod::sm::opensm {

class LogTail {
 public:
  // The file need not exist yet.
  explicit LogTail(Path path) : path_(std::move(path)) {}

  // The bytes appended since the last call; for a new or truncated file, all of them. At most kMost
  // bytes: call again until it is empty. If the file has been replaced, the rest of the old one
  // comes first.
  Result<std::string> read();
  // Skips the present content, except for the last `kept` bytes.
  Status skip(uint64_t kept);
  // True if bytes may have been lost since the last call, because the file was truncated.
  bool take_lost() { return std::exchange(lost_, false); }

  static constexpr size_t kMost = 1 << 16;

 private:
  Status open();
  Result<bool> replaced() const;
  Path path_;
  Fd fd_;
  off_t at_ = 0;
  bool lost_ = false;
};

}  // namespace ibpod::sm::opensm
