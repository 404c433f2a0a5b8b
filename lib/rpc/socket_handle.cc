#include "lib/rpc/socket_handle.h"

#include "lib/base/fd.h"

#include <algorithm>

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace ibpod::rpc {
namespace {

// The state of a connection that accept(2) has returned (kernel: include/net/tcp_states.h).
constexpr uint8_t kEstablished = 1;

std::string bytes_of(const void* address, size_t size) {
  return {static_cast<const char*>(address), size};
}

}  // namespace

Result<SocketHandle> SocketHandle::of(int fd) {
  struct stat found;
  TRY(sys("fstat of a connection", [&] { return ::fstat(fd, &found); }));
  return SocketHandle(fd, found.st_dev, found.st_ino);
}

bool SocketHandle::leads_here(int fd) const {
  struct stat found;
  return ::fstat(fd, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

bool SocketHandle::open() const { return leads_here(fd_); }

bool SocketHandle::ended() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state != kEstablished;
}

std::optional<SocketHandle::Peer> SocketHandle::peer() const {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd_, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return std::nullopt;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    return Peer{bytes_of(&v4.sin_addr, 4), ntohs(v4.sin_port)};
  }
  if (peer.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
  const std::string whole = bytes_of(&v6.sin6_addr, 16);
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
  return Peer{mapped ? whole.substr(12) : whole, ntohs(v6.sin6_port)};
}

std::optional<SocketHandle::Received> SocketHandle::received() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  int queued = 0;
  if (!open() || ::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ::ioctl(fd_, FIONREAD, &queued) != 0 || queued < 0)
    return std::nullopt;
  // Asked for one after the other: more may have been queued meanwhile than was received before.
  const uint64_t all = info.tcpi_bytes_received;
  const auto left = static_cast<uint64_t>(queued);
  return Received{all - std::min(all, left), left};
}

// By a descriptor of our own, so that it is this connection and no other that is ended.
bool SocketHandle::abort() const {
  const Fd own(::fcntl(fd_, F_DUPFD_CLOEXEC, 3));
  if (!own.valid() || !leads_here(own.get())) return false;
  const sockaddr none{AF_UNSPEC, {}};
  if (::connect(own.get(), &none, sizeof none) == 0) return true;
  return ::shutdown(own.get(), SHUT_RDWR) == 0;
}

}  // namespace ibpod::rpc
