#include "lib/base/file_version.h"

#include <sys/stat.h>

namespace ibpod {

std::optional<FileVersion> file_version(const Path& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileVersion{found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec,
                     found.st_ctim.tv_nsec};
}

}  // namespace ibpod
