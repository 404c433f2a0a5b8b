// AuthenticatedConnections: the connections without a certificate on which a service has
// authenticated a call, each with the account of its caller. Guard counts them under it.
#pragma once

#include "lib/rpc/socket_handle.h"

#include <map>
#include <mutex>
#include <string>

namespace ibpod::rpc {

// Thread-safe.
class AuthenticatedConnections {
 public:
  // `connection` is Peer::connection of an authenticated call. Of several accounts of one
  // connection the last counts. Ignored: a name that is no connection's, as "".
  void set(const std::string& connection, const std::string& account);
  // Nothing is known of the connection with this other end: it has just come.
  void forget(const SocketHandle::Peer& peer);
  // The accounts set since the last call, by the connection's other end.
  std::map<SocketHandle::Peer, std::string> take();

 private:
  std::mutex mutex_;
  std::map<SocketHandle::Peer, std::string> accounts_;  // guarded by mutex_
};

}  // namespace ibpod::rpc
