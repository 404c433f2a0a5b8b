// Watches a folder and the folders directly in it, by inotify.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

namespace ibpod {

class TreeWatch {
 public:
  // not_found if the folder does not exist.
  static Result<TreeWatch> open(const Path& root);

  // Readable after an entry was created, removed or renamed in the folder or in a folder in it. For
  // poll().
  int fd() const { return fd_.get(); }
  // Discards what has arrived and watches new folders: a caller that reads the tree after this call
  // misses nothing. A root that was removed is watched again once it exists, from the next call on.
  Status drain();

 private:
  TreeWatch(Path root, Fd fd) : root_(std::move(root)), fd_(std::move(fd)) {}
  Status watch_all();
  Path root_;
  Fd fd_;
};

}  // namespace ibpod
