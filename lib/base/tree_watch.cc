#include "lib/base/tree_watch.h"

#include <array>

#include <sys/inotify.h>

namespace ibpod {
namespace {

constexpr uint32_t kMask = IN_CREATE | IN_DELETE | IN_MOVE | IN_DELETE_SELF | IN_ONLYDIR;

// A folder that is watched already stays so: inotify knows it by its inode.
Status watch_folder(const Fd& fd, const Path& folder) {
  const auto added = sys("watch " + folder.string(),
                         [&] { return ::inotify_add_watch(fd.get(), folder.c_str(), kMask); });
  if (added) return ok();
  return added.error();
}

// Files and what has gone meanwhile need no watch.
bool passes(const Status& watched) {
  return watched.ok() || watched.error().error_number() == ENOENT ||
         watched.error().error_number() == ENOTDIR;
}

}  // namespace

Result<TreeWatch> TreeWatch::open(const Path& root) {
  Fd fd(TRY(sys("inotify_init1", [] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); })));
  TRY(watch_folder(fd, root));
  TreeWatch watch(root, std::move(fd));
  TRY(watch.watch_all());
  return watch;
}

// The root first: what is made in it from now on is told.
Status TreeWatch::watch_all() {
  Status root = watch_folder(fd_, root_);
  if (!passes(root)) return root;
  const std::vector<std::string> names = TRY(list_folder(root_));
  for (const std::string& name : names) {
    Status inside = watch_folder(fd_, root_ / name);
    if (!passes(inside)) return inside;
  }
  return ok();
}

Status TreeWatch::drain() {
  std::array<char, 4096> events;
  while (true) {
    const auto read =
        sys("read inotify", [&] { return ::read(fd_.get(), events.data(), events.size()); });
    if (!read && read.error().error_number() == EAGAIN) return watch_all();
    if (!read) return read.error();
  }
}

}  // namespace ibpod
