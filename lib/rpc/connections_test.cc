#include "lib/rpc/connections.h"

#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

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

}  // namespace
}  // namespace ibpod::rpc
