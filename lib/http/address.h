// Address: where a server listens.
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
  Path socket;        // a unix socket instead, where it is not empty

  // "127.0.0.1:9464", "[::1]:9464", ":9464", "unix:/run/ibpod/metrics.sock". No host names: who can
  // reach a server is not for a name service to decide.
  static Result<Address> parse(std::string_view text);
  std::string text() const;
  // Only this machine gets there.
  bool local() const;
  bool operator==(const Address&) const = default;
};

// A listening socket that never blocks. A unix socket is made with mode 0600, in a folder that has
// to be there; one whose server is gone is replaced, one that somebody serves is busy.
Result<Fd> listen_on(const Address& address);
// Where it came to listen: the address with the port that was free.
Result<Address> bound_address(const Fd& listening, const Address& asked);

}  // namespace ibpod::http
