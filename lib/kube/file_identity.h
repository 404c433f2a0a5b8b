// FileIdentity: whether a path still leads to the same file.
#pragma once

#include "lib/base/files.h"

#include <cstdint>
#include <optional>

#include <sys/stat.h>

namespace ibpod::kube {

// An inode's number is soon used again, so the time of its last change belongs to it.
struct FileIdentity {
  uint64_t device;
  uint64_t inode;
  int64_t seconds;
  int64_t nanoseconds;
  bool operator==(const FileIdentity&) const = default;

  // Nothing where nothing is there.
  static std::optional<FileIdentity> of(const Path& path) {
    struct stat found;
    if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
    return FileIdentity{found.st_dev, found.st_ino, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
  }
};

}  // namespace ibpod::kube
