// Who has a certificate, by its names.
#pragma once

#include "lib/rpc/peer.h"

#include <functional>
#include <string>

namespace ibpod::rpc {

// The names of this certificate (PEM), as peer_of() tells them of a call. Without names: nobody can
// say whose it is.
Peer peer_of(const std::string& certificate);

// Whose share of a server's limits a certificate with these names uses. Empty: nobody can say; all
// such have one.
using Account = std::function<std::string(const Peer& peer)>;

// The account where nobody says otherwise: the subject's CN or, where it has none, the first name
// of a host or URI that it was issued for. Names of more than 256 bytes are passed over.
std::string holder_of(const Peer& peer);

}  // namespace ibpod::rpc
