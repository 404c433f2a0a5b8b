// Tells of changes in a folder and in the folders directly in it, as Linux's inotify sees them.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

namespace ibpod {

class TreeWatch {
 public:
  // not_found where there is no such folder.
  static Result<TreeWatch> open(const Path& root);

  // Readable when an entry has been made, removed or renamed in the folder or in one of those in
  // it. To be polled.
  int fd() const { return fd_.get(); }
  // Throws away what has arrived and looks for folders that are new: who reads the tree behind this
  // call misses nothing. A root that is gone is watched again once it is back, from the next call
  // on.
  Status drain();

 private:
  TreeWatch(Path root, Fd fd) : root_(std::move(root)), fd_(std::move(fd)) {}
  Status watch_all();
  Path root_;
  Fd fd_;
};

}  // namespace ibpod
