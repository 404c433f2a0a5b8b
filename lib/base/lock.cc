#include "lib/base/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace ibpod {
namespace {

// flock has no deadline of its own, so it is tried again at this interval.
constexpr Duration kInterval{10};

// The holder before us may have taken the folder away while we had it open: a lock on that is none.
bool still_there(const Fd& fd, const Path& folder) {
  struct stat held;
  struct stat named;
  return ::fstat(fd.get(), &held) == 0 && ::stat(folder.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

Result<Fd> open_folder(const Path& folder) {
  TRY(make_folders(folder));
  return Fd(TRY(sys("open " + folder.string(), [&] {
    return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  })));
}

}  // namespace

Result<FolderLock> FolderLock::take(const Path& folder, Deadline deadline) {
  while (true) {
    Result<Fd> fd = open_folder(folder);
    if (!fd && fd.error().code() != Code::not_found) return fd.error();
    if (fd) {
      const auto locked =
          sys("lock " + folder.string(), [&] { return ::flock(fd->get(), LOCK_EX | LOCK_NB); });
      if (!locked && locked.error().error_number() != EWOULDBLOCK) return locked.error();
      if (locked && still_there(*fd, folder)) return FolderLock(folder, std::move(*fd));
    }
    if (deadline.passed()) {
      return Error(Code::unavailable,
                   "lock " + folder.string() + ": another process still holds it");
    }
    ::poll(nullptr, 0, static_cast<int>(std::min(kInterval, deadline.left()).count()));
  }
}

FolderLock::~FolderLock() {
  // rmdir() removes only an empty folder. A process that waits for the lock makes the folder again.
  if (fd_.valid()) ::rmdir(folder_.c_str());
}

}  // namespace ibpod
