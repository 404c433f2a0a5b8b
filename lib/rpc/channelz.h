// Channelz: what gRPC itself counts of a server's connections, at the transport: also of calls that
// are reset before they come to a service. It knows of a connection once TLS has begun on it.
#pragma once

#include "lib/base/result.h"
#include "lib/rpc/socket_handle.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::rpc {

class Channelz {
 public:
  using Id = int64_t;

  // After the server has started: of all servers of this process until set_server(), and of that
  // one from then on.
  Channelz();
  Channelz(const Channelz&) = delete;
  Channelz& operator=(const Channelz&) = delete;
  Channelz(Channelz&&) = delete;
  Channelz& operator=(Channelz&&) = delete;
  virtual ~Channelz() = default;

  struct Socket {
    Id id;
    Id server;
    SocketHandle::Peer peer;
    std::string certificate;  // the other side's, PEM
  };
  // The connections over TCP that have come since the last call.
  virtual std::vector<Socket> new_sockets();
  void set_server(Id server) { servers_ = {server}; }

  struct Counts {
    uint64_t begun = 0;     // streams, each a call
    uint64_t ended = 0;     // of them, those whose memory has been given back
    uint64_t messages = 0;  // that have been received whole
    uint64_t unfinished() const { return begun - std::min(begun, ended); }
    // An upper bound of the calls that have not ended and whose request is incomplete: channelz
    // does not report which of the ended calls had a complete one.
    uint64_t partial() const { return begun - std::min(begun, std::max(ended, messages)); }
  };
  // Nothing: the connection has been closed.
  virtual std::optional<Counts> counts(Id socket) const;

 private:
  std::vector<Id> servers_;
  std::set<Id> known_;  // the newest of those that were returned
};

}  // namespace ibpod::rpc
