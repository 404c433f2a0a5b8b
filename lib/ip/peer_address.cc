#include "lib/ip/peer_address.h"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace ibpod::ip {
namespace {

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

}  // namespace

std::string address_of(const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET)
    return text_of(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr);
  if (peer.ss_family != AF_INET6) return {};
  in6_addr address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, &address.s6_addr[12]);
  std::memset(&address.s6_addr[8], 0, 8);
  return text_of(AF_INET6, &address);
}

}  // namespace ibpod::ip
