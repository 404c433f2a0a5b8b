// The address that identifies the other end of a connection; many addresses of one machine count
// once.
#pragma once

#include <string>

#include <sys/socket.h>

namespace ibpod::ip {

// The IP address without the port; for IPv6 the /64 network, which one machine has whole. Empty for
// other families.
std::string address_of(const sockaddr_storage& peer);

}  // namespace ibpod::ip
