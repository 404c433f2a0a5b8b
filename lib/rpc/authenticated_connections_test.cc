#include "lib/rpc/authenticated_connections.h"

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

using Accounts = std::map<SocketHandle::Peer, std::string>;

TEST_CASE("authenticated connections: a connection has gRPC's name of its other end") {
  const std::string v4("\x0a\x01\x02\x03", 4);
  const std::string v6("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07", 16);
  const std::string local("\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
  AuthenticatedConnections connections;
  connections.set("ipv4:10.1.2.3:4711", "node n1");
  connections.set("ipv6:%5Bfd00::7%5D:4712", "node n2");
  connections.set("ipv6:[fd00::7]:4713", "node n3");
  connections.set("ipv6:%5Bfe80::1%25eth0%5D:4714", "node n4");
  CHECK(connections.take() == Accounts{{{v4, 4711}, "node n1"},
                                       {{v6, 4712}, "node n2"},
                                       {{v6, 4713}, "node n3"},
                                       {{local, 4714}, "node n4"}});
  CHECK(connections.take().empty());
}

TEST_CASE("authenticated connections: the last account of a connection counts") {
  AuthenticatedConnections connections;
  connections.set("ipv4:10.1.2.3:4711", "node n1");
  connections.set("ipv4:10.1.2.3:4711", "node n2");
  CHECK(connections.take() == Accounts{{{std::string("\x0a\x01\x02\x03", 4), 4711}, "node n2"}});
}

TEST_CASE("authenticated connections: a connection that has just come has no account") {
  AuthenticatedConnections connections;
  connections.set("ipv4:10.1.2.3:4711", "node n1");
  connections.forget({std::string("\x0a\x01\x02\x03", 4), 4711});
  CHECK(connections.take().empty());
}

TEST_CASE("authenticated connections: a name that is no connection's is ignored") {
  AuthenticatedConnections connections;
  for (const char* name :
       {"", "unix:/run/sm.sock", "fd:9", "ipv4:", "ipv4:10.1.2.3", "ipv4:10.1.2:4711",
        "ipv4:10.1.2.3:", "ipv4:10.1.2.3:65536", "ipv4:10.1.2.3:4711x", "ipv6:fd00::7:4711",
        "ipv6:%5Bfd00::7%5D", "ipv6:%5B%5D:4711"})
    connections.set(name, name);
  CHECK(connections.take().empty());
}

}  // namespace
}  // namespace ibpod::rpc
