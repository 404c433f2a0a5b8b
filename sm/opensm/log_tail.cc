#include "sm/opensm/log_tail.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>

namespace ibpod::sm::opensm {
namespace {

Result<struct stat> stat_of(const Fd& fd) {
  struct stat found = {};
  TRY(sys("fstat", [&] { return ::fstat(fd.get(), &found); }));
  return found;
}

}  // namespace

// A missing file is not an error: it is read as empty.
Status LogTail::open() {
  const auto opened =
      sys("open " + path_.string(), [&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC); });
  if (!opened && opened.error().error_number() == ENOENT) return ok();
  if (!opened) return opened.error();
  fd_ = Fd(*opened);
  at_ = 0;
  return ok();
}

Result<bool> LogTail::replaced() const {
  struct stat there = {};
  if (::stat(path_.c_str(), &there) != 0) return false;  // the open file may still be written
  const struct stat ours = TRY(stat_of(fd_));
  return there.st_ino != ours.st_ino || there.st_dev != ours.st_dev;
}

Result<std::string> LogTail::read() {
  if (!fd_.valid()) TRY(open());
  if (!fd_.valid()) return std::string();
  const struct stat now = TRY(stat_of(fd_));
  if (now.st_size < at_) {
    at_ = 0;
    lost_ = true;
  }
  std::string bytes(kMost, '\0');
  const ssize_t count = TRY(
      sys("read " + path_.string(), [&] { return ::pread(fd_.get(), bytes.data(), kMost, at_); }));
  at_ += count;
  bytes.resize(static_cast<size_t>(count));
  if (count > 0) return bytes;
  const bool another = TRY(replaced());
  if (!another) return bytes;
  fd_.close();
  return read();
}

Status LogTail::skip(uint64_t kept) {
  fd_.close();
  TRY(open());
  if (!fd_.valid()) return ok();
  const struct stat now = TRY(stat_of(fd_));
  at_ = std::max<off_t>(0, now.st_size - static_cast<off_t>(kept));
  return ok();
}

}  // namespace ibpod::sm::opensm
