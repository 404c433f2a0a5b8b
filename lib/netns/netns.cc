#include "lib/netns/netns.h"

#include "lib/base/run_on_thread.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace ibpod::netns {
namespace {

// Linux 5.14; the C library of Debian 12 has no name for it on every architecture.
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

// The cookie of a socket's namespace; nothing if the kernel has none.
Result<std::optional<uint64_t>> cookie(int socket) {
  uint64_t value = 0;
  socklen_t length = sizeof value;
  const auto got = sys("ask for the namespace's cookie", [&] {
    return ::getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &value, &length);
  });
  if (got) return std::optional(value);
  if (got.error().error_number() == ENOPROTOOPT) return std::optional<uint64_t>();
  return got.error();
}

Status check_namespace(const Fd& fd, const std::string& path) {
  struct statfs found;
  TRY(sys("statfs " + path, [&] { return ::fstatfs(fd.get(), &found); }));
  if (found.f_type != NSFS_MAGIC) {
    return Error(Code::not_found, path + " is not a namespace, or no longer");
  }
  const int type =
      TRY(sys("ask what " + path + " is", [&] { return ::ioctl(fd.get(), NS_GET_NSTYPE); }));
  if (type == CLONE_NEWNET) return ok();
  return Error(Code::invalid, path + " is a namespace of another kind, not a network namespace");
}

}  // namespace

Result<NetNs> NetNs::open(const Path& path) {
  Fd fd(TRY(sys("open " + path.string(),
                [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })));
  TRY(check_namespace(fd, path.string()));
  return NetNs(std::move(fd));
}

// The namespace of the thread, not of the process: threads of one process may be in different
// namespaces.
Result<NetNs> NetNs::current() {
  Fd fd(TRY(sys("open the own network namespace", [] {
    return ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  })));
  return NetNs(std::move(fd));
}

Result<Identity> NetNs::identity_by(int socket) const {
  struct stat found;
  TRY(sys("stat a network namespace", [&] { return ::fstat(fd_.get(), &found); }));
  const std::optional<uint64_t> known = TRY(cookie(socket));
  return Identity{found.st_dev, found.st_ino, known};
}

Result<Identity> NetNs::identity() const {
  Result<Identity> identity = Error(Code::internal, "not asked");
  TRY(run_in_netns(fd_, "identify a network namespace", [&]() -> Status {
    const Fd fd(
        TRY(sys("open a socket", [] { return ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); })));
    identity = identity_by(fd.get());
    return ok();
  }));
  return identity;
}

Result<bool> NetNs::is_same(const NetNs& other) const {
  struct stat own, its;
  TRY(sys("stat a network namespace", [&] { return ::fstat(fd_.get(), &own); }));
  TRY(sys("stat a network namespace", [&] { return ::fstat(other.fd_.get(), &its); }));
  return own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

}  // namespace ibpod::netns
