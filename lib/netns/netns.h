// NetNs: an open network namespace.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::netns {

// What tells two namespaces apart. The kernel uses inode numbers again; the cookie
// (SO_NETNS_COOKIE, kernel 5.14) never.
struct Identity {
  uint64_t device = 0;
  uint64_t inode = 0;
  std::optional<uint64_t> cookie;
  bool operator==(const Identity&) const = default;
};

class NetNs {
 public:
  // not_found where there is no such path, or where it is no network namespace any more: the empty
  // file that is left when its bind mount has gone.
  static Result<NetNs> open(const Path& path);
  // The calling thread's.
  static Result<NetNs> current();

  const Fd& fd() const { return fd_; }
  Result<Identity> identity() const;

 private:
  explicit NetNs(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::netns
