#include "lib/rpc/connections.h"

#include <array>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

namespace ibpod::rpc {
namespace {

Fd some_socket() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

TEST_CASE(
    "connections: an address has its number, all have theirs, and closed ones count no more") {
  Connections connections({3, 2, Duration(0)});
  std::vector<Fd> open;
  const auto add = [&](const std::string& address) {
    open.push_back(some_socket());
    REQUIRE(connections.add(open.back().get(), address));
  };
  add("10.0.0.1");
  CHECK(connections.admits("10.0.0.1"));
  add("10.0.0.1");
  CHECK_FALSE(connections.admits("10.0.0.1"));
  CHECK(connections.admits("10.0.0.2"));
  CHECK_FALSE(connections.full());
  add("10.0.0.2");
  CHECK(connections.full());
  open.erase(open.begin());
  CHECK_FALSE(connections.full());
  CHECK(connections.admits("10.0.0.1"));
  CHECK(connections.size() == 2);
  open.clear();
  add("10.0.0.1");
  add("10.0.0.1");
  CHECK_FALSE(connections.admits("10.0.0.1"));
}

TEST_CASE("connections: however many are refused, those there are are not looked at each time") {
  Connections connections({3, 1, Duration(3'600'000)});
  Fd open = some_socket();
  REQUIRE(connections.add(open.get(), "10.0.0.1"));
  CHECK_FALSE(connections.admits("10.0.0.1"));
  open.close();
  CHECK_FALSE(connections.admits("10.0.0.1"));
  CHECK(connections.size() == 1);
}

TEST_CASE("connections: a descriptor's number that leads elsewhere is not the connection") {
  Connections connections({1, 1, Duration(0)});
  Fd first = some_socket();
  const int number = first.get();
  REQUIRE(connections.add(number, "10.0.0.1"));
  CHECK(connections.full());
  first.close();
  const Fd second = some_socket();
  REQUIRE(second.get() == number);
  CHECK_FALSE(connections.full());
  REQUIRE(connections.add(number, "10.0.0.2"));
  CHECK(connections.admits("10.0.0.1"));
  CHECK_FALSE(connections.admits("10.0.0.2"));
}

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

TEST_CASE("connections: who has a network of IPv6 has one address") {
  CHECK(address("10.0.0.1") == "10.0.0.1");
  CHECK(address("::ffff:10.0.0.1") == "10.0.0.1");
  CHECK(address("fd00:1:2:3:4:5:6:7") == "fd00:1:2:3::");
  CHECK(address("fd00:1:2:3::1") == address("fd00:1:2:3::2"));
  CHECK(address("neither").empty());
}

}  // namespace
}  // namespace ibpod::rpc
