// Address: the address that a server listens on.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ibpod::http {

struct Address {
  std::string host;   // an IP address; empty: every interface
  uint16_t port = 0;  // 0: any that is free
  Path socket;        // a Unix socket instead, if it is not empty

  // "127.0.0.1:9464", "[::1]:9464", ":9464", "unix:/run/ibpod/metrics.sock". No host names, because
  // a name service must not decide who can reach a server.
  static Result<Address> parse(std::string_view text);
  std::string text() const;
  // True if only this machine can connect.
  bool local() const;
  bool operator==(const Address&) const = default;
};

// A non-blocking listening socket. A Unix socket gets mode 0600, in an existing folder; a stale one
// is replaced. busy if another process listens there.
Result<Fd> listen_on(const Address& address);
// The address with the port that the kernel chose.
Result<Address> bound_address(const Fd& listening, const Address& asked);

}  // namespace ibpod::http
