// Peer: the caller of a call.
#pragma once

#include <string>
#include <vector>

namespace grpc {
class ServerContextBase;
}

namespace ibpod::rpc {

struct Peer {
  // From the certificate that TLS has verified against the CA: the subject's CN (the first, if it
  // has several), and the names it was issued for, as "DNS=node-7.example" and
  // "URI=spiffe://cluster/node-7".
  std::string common_name;
  std::vector<std::string> names;
  // On the unix socket, which only the server's own user (root) can connect to (Listener).
  bool local = false;
  // The call's metadata `authorization` as it was sent, over TLS only; several are joined by
  // commas. A secret: it must not be logged.
  std::string authorization = {};
  // For AuthenticatedConnections: the connection, if it is TLS without a client's certificate.
  std::string connection = {};
  bool operator==(const Peer&) const = default;
};

// No names if neither TLS nor the socket authenticates the caller. Names with bytes that are not
// printable ASCII are left out, so that compared and logged names are the certified ones.
Peer peer_of(const grpc::ServerContextBase& context);

}  // namespace ibpod::rpc
