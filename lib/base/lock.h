// A lock between processes, held on a folder.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"

namespace ibpod {

// An exclusive flock on a folder. The folder is created if it is missing and removed with the lock
// if it is empty. The kernel releases the lock when the process ends.
class FolderLock {
 public:
  // unavailable if another process still holds it at the deadline.
  static Result<FolderLock> take(const Path& folder, Deadline deadline);
  FolderLock(FolderLock&&) = default;
  FolderLock& operator=(FolderLock&&) = default;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  FolderLock(Path folder, Fd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  Path folder_;
  Fd fd_;
};

}  // namespace ibpod
