#include "sm/opensm/file_watch.h"

#include <array>
#include <set>

#include <sys/inotify.h>

namespace ibpod::sm::opensm {

Result<FileWatch> FileWatch::open(const std::vector<Path>& files) {
  constexpr uint32_t kMask =
      IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVE | IN_DELETE | IN_ONLYDIR;
  Fd fd(TRY(sys("inotify_init1", [] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); })));
  std::set<Path> folders;
  for (const Path& file : files) folders.insert(file.parent_path());
  for (const Path& folder : folders) {
    TRY(sys("watch " + folder.string(),
            [&] { return ::inotify_add_watch(fd.get(), folder.c_str(), kMask); }));
  }
  return FileWatch(std::move(fd));
}

void FileWatch::drain() const {
  std::array<char, 4096> events;
  while (::read(fd_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace ibpod::sm::opensm
