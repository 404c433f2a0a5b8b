#include "lib/base/tree_watch.h"

namespace ibpod {
namespace {

// Files and what has gone meanwhile need no watch.
bool passes(const Status& watched) {
  return watched.ok() || watched.error().error_number() == ENOENT ||
         watched.error().error_number() == ENOTDIR;
}

}  // namespace

Result<TreeWatch> TreeWatch::open(const Path& root) {
  FolderWatch folders = TRY(FolderWatch::open(root, FolderWatch::Changes::entries));
  TreeWatch watch(root, std::move(folders));
  TRY(watch.watch_all());
  return watch;
}

// The root first: what is made in it from now on is told.
Status TreeWatch::watch_all() {
  Status root = watch_.add(root_);
  if (!passes(root)) return root;
  const std::vector<std::string> names = TRY(list_folder(root_));
  for (const std::string& name : names) {
    Status inside = watch_.add(root_ / name);
    if (!passes(inside)) return inside;
  }
  return ok();
}

Status TreeWatch::drain() {
  watch_.drain();
  return watch_all();
}

}  // namespace ibpod
