#include "tests/fabric/sm/faults/small_disk.h"

#include "lib/base/fd.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace ibpod {

SmallDisk::SmallDisk(Path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  mounted_ = ::unshare(CLONE_NEWNS) == 0 &&
             ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=4m") == 0;
}

// A process that still has files open there keeps them.
SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
}

void SmallDisk::fill(size_t pages_left) const {
  const Fd filler(::open((folder_ / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(filler.valid());
  struct statvfs now = {};
  while (::statvfs(folder_.c_str(), &now) == 0 && now.f_bavail > pages_left) {
    const std::string bytes((now.f_bavail - pages_left) * now.f_frsize, 'x');
    const off_t end = ::lseek(filler.get(), 0, SEEK_END);
    if (::pwrite(filler.get(), bytes.data(), bytes.size(), end) <= 0) break;
  }
}

void SmallDisk::empty() const { std::filesystem::remove(folder_ / "filler"); }

}  // namespace ibpod
