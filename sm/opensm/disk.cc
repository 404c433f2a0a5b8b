#include "sm/opensm/disk.h"

#include "lib/base/fd.h"
#include "lib/fabric/partitions_conf.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace ibpod::sm::opensm {

Result<std::string> Disk::read(const Path& path) { return read_file(path, fabric::kMostReadable); }

Status Disk::write(const Path& path, std::string_view content) {
  return write_file_atomically(path, content);
}

Status Disk::replace(const Path& from, const Path& to) { return replace_file(from, to); }

Result<bool> Disk::exchange(const Path& one, const Path& other) {
  const auto exchanged = sys("exchange " + other.string(), [&] {
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  const int error = exchanged ? 0 : exchanged.error().error_number();
  if (error == EINVAL || error == ENOSYS) return false;
  if (!exchanged) return exchanged.error();
  const Path folder = other.parent_path();
  const Fd fd(TRY(sys("open " + folder.string(),
                      [&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })));
  TRY(sys("fsync " + folder.string(), [&] { return ::fsync(fd.get()); }));
  return true;
}

}  // namespace ibpod::sm::opensm
