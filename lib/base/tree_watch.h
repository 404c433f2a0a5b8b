// Watches a folder and the folders directly in it, by inotify.
#pragma once

#include "lib/base/folder_watch.h"
#include "lib/base/result.h"

namespace ibpod {

class TreeWatch {
 public:
  // not_found if the folder does not exist.
  static Result<TreeWatch> open(const Path& root);

  // Readable after an entry was created, removed or renamed in the folder or in a folder in it. For
  // poll().
  int fd() const { return watch_.fd(); }
  // Discards what has arrived and watches new folders: a caller that reads the tree after this call
  // misses nothing. A root that was removed is watched again once it exists, from the next call on.
  Status drain();

 private:
  TreeWatch(Path root, FolderWatch watch) : root_(std::move(root)), watch_(std::move(watch)) {}
  Status watch_all();
  Path root_;
  FolderWatch watch_;
};

}  // namespace ibpod
