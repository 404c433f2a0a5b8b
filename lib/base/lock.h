// A lock between processes, held on a folder.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"

namespace ibpod {

// An exclusive flock on a folder, which is made if it is missing and taken away again with the lock
// if it is empty then. The kernel drops the lock with the process, however that ends.
class FolderLock {
 public:
  // unavailable when somebody else still holds it at the deadline.
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
