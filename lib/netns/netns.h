// NetNs: an open network namespace.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::netns {

// Identifies a namespace. The kernel reuses inode numbers, but never the cookie (SO_NETNS_COOKIE,
// kernel 5.14).
struct Identity {
  uint64_t device = 0;
  uint64_t inode = 0;
  std::optional<uint64_t> cookie;
  bool operator==(const Identity&) const = default;
};

class NetNs {
 public:
  // not_found if the path does not exist or is no longer a network namespace: removing its bind
  // mount leaves an empty file.
  static Result<NetNs> open(const Path& path);
  // The calling thread's.
  static Result<NetNs> current();

  const Fd& fd() const { return fd_; }
  Result<Identity> identity() const;
  // The same by any socket in the namespace; identity() starts a thread that opens one.
  Result<Identity> identity_by(int socket) const;
  // True if both are the same one. Both are open, so their inode numbers are not used again.
  Result<bool> is_same(const NetNs& other) const;

 private:
  explicit NetNs(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::netns
