// Who is at the other end of a connection, so that nobody has more by having many addresses.
#pragma once

#include <string>

#include <sys/socket.h>

namespace ibpod::ip {

// The IP address without port; of IPv6 the network of 64 bits, of which one machine has all. Empty
// for what is neither.
std::string address_of(const sockaddr_storage& peer);

}  // namespace ibpod::ip
