#include "lib/base/folder_watch.h"

#include <array>

#include <poll.h>
#include <sys/inotify.h>

namespace ibpod {
namespace {

uint32_t mask_of(FolderWatch::Changes changes) {
  uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  if (changes != FolderWatch::Changes::entries) mask |= IN_CLOSE_WRITE;
  if (changes == FolderWatch::Changes::writes) mask |= IN_MODIFY;
  return mask;
}

}  // namespace

Result<FolderWatch> FolderWatch::make(Changes changes) {
  Fd fd(TRY(sys("inotify_init1", [] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); })));
  return FolderWatch(std::move(fd), changes);
}

Result<FolderWatch> FolderWatch::open(const Path& folder, Changes changes) {
  FolderWatch watch = TRY(make(changes));
  TRY(watch.add(folder));
  return watch;
}

Result<FolderWatch> FolderWatch::of_files(const std::vector<Path>& files) {
  FolderWatch watch = TRY(make(Changes::writes));
  for (const Path& file : files) TRY(watch.add(file.parent_path()));
  return watch;
}

// inotify knows a folder by its inode.
Status FolderWatch::add(const Path& folder) {
  TRY(sys("watch " + folder.string(),
          [&] { return ::inotify_add_watch(fd_.get(), folder.c_str(), mask_of(changes_)); }));
  return ok();
}

Result<bool> FolderWatch::wait(Deadline deadline) {
  pollfd waiting{fd_.get(), POLLIN, 0};
  const int ready = TRY(
      sys("poll", [&] { return ::poll(&waiting, 1, static_cast<int>(deadline.left().count())); }));
  if (ready > 0) drain();
  return ready > 0;
}

void FolderWatch::drain() const {
  std::array<char, 4096> events;
  while (::read(fd_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace ibpod
