// SocketHandle: a TCP connection whose descriptor gRPC owns, and closes without notice. It is
// identified by the descriptor's number and the inode of its socket. If the number leads to another
// socket, the connection is gone.
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace ibpod::rpc {

class SocketHandle {
 public:
  // `fd` is open, and no other thread closes it now.
  static Result<SocketHandle> of(int fd);

  int fd() const { return fd_; }
  bool open() const;
  // True if nothing more can come on it: its other end has closed it, or it was aborted.
  bool ended() const;

  // The other end: its address as 4 or 16 bytes, and its port. Nothing: it has gone.
  struct Peer {
    std::string address;
    uint16_t port;
    auto operator<=>(const Peer&) const = default;
  };
  std::optional<Peer> peer() const;

  struct Received {
    uint64_t taken;   // bytes that have been read of it
    uint64_t queued;  // bytes in the kernel that were not read yet
  };
  // Nothing: it has gone.
  std::optional<Received> received() const;

  // Ends it at once: the other side gets a reset, and what the kernel still has of it is thrown
  // away, where shutdown(2) would leave it to be read. False: it had gone before.
  bool abort() const;

 private:
  SocketHandle(int fd, dev_t device, ino_t inode) : fd_(fd), device_(device), inode_(inode) {}
  bool leads_here(int fd) const;
  int fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace ibpod::rpc
