#include "lib/rpc/connections.h"

#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ibpod::rpc {
namespace {

Fd some_socket() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// Both ends of a TCP connection.
struct Ends {
  Fd client, server;
};
Ends connected() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const Fd listening = some_socket();
  socklen_t size = sizeof address;
  REQUIRE(::bind(listening.get(), any, size) == 0);
  REQUIRE(::listen(listening.get(), 1) == 0);
  REQUIRE(::getsockname(listening.get(), any, &size) == 0);
  Ends ends{some_socket(), Fd()};
  REQUIRE(::connect(ends.client.get(), any, size) == 0);
  ends.server = Fd(::accept(listening.get(), nullptr, nullptr));
  REQUIRE(ends.server.valid());
  return ends;
}

TEST_CASE("connections: who leaves ended ones behind gets no other until they are closed") {
  Connections connections({9, 9, 3, 2, Duration(0)});
  std::vector<Ends> all;
  const auto add = [&](const std::string& address) {
    all.push_back(connected());
    REQUIRE(connections.add(all.back().server.get(), address));
  };
  for (const char* const address : {"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"}) add(address);
  all[0].client.close();
  CHECK(connections.admits("10.0.0.1"));
  REQUIRE(SocketHandle::of(all[1].server.get())->abort());
  CHECK_FALSE(connections.admits("10.0.0.1"));
  CHECK(connections.admits("10.0.0.2"));
  CHECK_FALSE(connections.full());
  all[3].client.close();
  CHECK(connections.full());
  all[0].server.close();
  CHECK(connections.admits("10.0.0.1"));
  CHECK_FALSE(connections.full());
  CHECK(connections.size() == 3);
}

TEST_CASE(
    "connections: an address has its number, all have theirs, and closed ones count no more") {
  Connections connections({3, 2, 3, 3, Duration(0)});
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
  Connections connections({3, 1, 3, 3, Duration(3'600'000)});
  Fd open = some_socket();
  REQUIRE(connections.add(open.get(), "10.0.0.1"));
  CHECK_FALSE(connections.admits("10.0.0.1"));
  open.close();
  CHECK_FALSE(connections.admits("10.0.0.1"));
  CHECK(connections.size() == 1);
}

TEST_CASE("connections: a descriptor's number that leads elsewhere is not the connection") {
  Connections connections({1, 1, 3, 3, Duration(0)});
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

}  // namespace
}  // namespace ibpod::rpc
