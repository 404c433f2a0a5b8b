// The holder of a certificate, by its names, and the account that a connection is counted under.
#pragma once

#include "lib/rpc/peer.h"

#include <functional>
#include <string>

namespace ibpod::rpc {

// The names of this certificate (PEM), as in peer_of() of a call. Empty if the certificate has
// none.
Peer peer_of(const std::string& certificate);

// The account whose limits a certificate with these names uses. Empty: the shared account of
// unnamed holders.
using Account = std::function<std::string(const Peer& peer)>;

// The account of connections from this address without a certificate, until a call of theirs is
// authenticated: "address 10.1.2.3".
std::string anonymous_account(const std::string& address);
bool is_anonymous(const std::string& account);

// The default account: the subject's CN or, without one, the first host or URI name. Names of more
// than 256 bytes are skipped.
std::string holder_of(const Peer& peer);

}  // namespace ibpod::rpc
