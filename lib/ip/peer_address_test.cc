#include "lib/ip/peer_address.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

namespace ibpod::ip {
namespace {

std::string address(const char* text) {
  sockaddr_storage peer{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(peer);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(peer);
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    peer.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
    peer.ss_family = AF_INET6;
  }
  return address_of(peer);
}

TEST_CASE("who has a network of IPv6 has one address") {
  CHECK(address("10.0.0.1") == "10.0.0.1");
  CHECK(address("::ffff:10.0.0.1") == "10.0.0.1");
  CHECK(address("fd00:1:2:3:4:5:6:7") == "fd00:1:2:3::");
  CHECK(address("fd00:1:2:3::1") == address("fd00:1:2:3::2"));
  CHECK(address("neither").empty());
}

}  // namespace
}  // namespace ibpod::ip
