#include "lib/rpc/token_credentials.h"

#include "lib/rpc/authenticated_connections.h"
#include "lib/rpc/test_tls.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"

#include <atomic>

#include <doctest/doctest.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace ibpod::rpc {
namespace {

TcpServer::Settings without_certificates() {
  TcpServer::Settings settings;
  settings.client = ClientCertificate::optional;
  return settings;
}

struct TokenFixture : TlsFixture {
  TempFolder folder;
  Path token = folder.path() / "token";
  TokenFixture() : TlsFixture(without_certificates()) {}
  std::unique_ptr<TlsChannel> channel_with(const Path& file) const {
    return TlsChannel::open({target(), {{}, {}, client_files.files.ca}, {}, file}).value();
  }
};

TEST_CASE("TLS channel: a client without a certificate sends the token of its file in each call") {
  TokenFixture fixture;
  fixture.folder.write("token", "one\n");
  const auto channel = fixture.channel_with(fixture.token);
  REQUIRE(say(*channel, "hello"));
  CHECK(fixture.service.last_peer().authorization == "Bearer one");
  fixture.folder.write("token", std::string(7 << 10, 'x'));
  REQUIRE(say(*channel, "hello"));
  CHECK(fixture.service.last_peer().authorization.size() == 7 + (7 << 10));
  std::filesystem::remove(fixture.token);
  const auto without = channel->now();
  CHECK(without.error().code() == Code::unavailable);
  CHECK(without.error().text().find(fixture.token.string()) != std::string::npos);
  CHECK_FALSE(channel->certificate());
  CHECK_FALSE(channel->usable());
}

TEST_CASE(
    "TLS channel: a client with neither has no name, and one with a certificate is its holder") {
  TokenFixture fixture;
  REQUIRE(say(*fixture.channel_with({}), "hello"));
  const Peer neither = fixture.service.last_peer();
  CHECK(neither == Peer{.common_name = "", .names = {}, .connection = neither.connection});
  REQUIRE(say(*fixture.channel(), "hello"));
  CHECK(fixture.service.last_peer().common_name == "node-7");
  CHECK(fixture.service.last_peer().connection.empty());
  const TestCa other;
  const Files foreign(fixture.ca, other.issue(client_named("node-7")));
  CHECK_FALSE(say(*fixture.channel(foreign), "hello"));
}

Fd listen_on_v6(uint16_t& port) {
  Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof address;
  auto* const all = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), all, size) != 0 || ::listen(fd.get(), 16) != 0 ||
      ::getsockname(fd.get(), all, &size) != 0)
    return Fd();
  port = ntohs(address.sin6_port);
  return fd;
}

TEST_CASE("TCP server: a connection without a certificate has a name that leads to its other end") {
  TokenFixture fixture;
  AuthenticatedConnections connections;
  REQUIRE(say(*fixture.channel_with({}), "hello"));
  connections.set(fixture.service.last_peer().connection, "node n1");
  auto known = connections.take();
  REQUIRE(known.size() == 1);
  CHECK(known.begin()->first.address == std::string("\x7f\0\0\1", 4));

  uint16_t port = 0;
  Fd listening = listen_on_v6(port);
  if (!listening.valid()) {
    MESSAGE("not shown: this machine has no IPv6");
    return;
  }
  TcpServer::Settings settings = without_certificates();
  settings.files = fixture.server_files.files;
  const auto server = TcpServer::serve(std::move(listening), settings, {&fixture.service}).value();
  const auto channel = TlsChannel::open({"[::1]:" + std::to_string(port),
                                         {{}, {}, fixture.client_files.files.ca},
                                         "127.0.0.1",
                                         {}})
                           .value();
  REQUIRE(say(*channel, "hello"));
  connections.set(fixture.service.last_peer().connection, "node n1");
  known = connections.take();
  REQUIRE(known.size() == 1);
  CHECK(known.begin()->first.address == std::string(15, '\0') + "\1");
}

TEST_CASE("TCP server: without a certificate no client comes in where one is required") {
  TlsFixture fixture;
  const auto channel =
      TlsChannel::open({fixture.target(), {{}, {}, fixture.client_files.files.ca}, {}, {}}).value();
  CHECK(say(*channel, "hello").error().code() == Code::unavailable);
  TcpServer::Settings settings;
  settings.files = {{}, {}, fixture.server_files.files.ca};
  CHECK(TcpServer::serve(listen_on(0), settings, {&fixture.service}).error().code() ==
        Code::invalid);
}

TEST_CASE("token credentials: gRPC sends them over TLS only") {
  TokenFixture fixture;
  fixture.folder.write("token", "secret-token\n");
  const auto credentials = token_credentials(fixture.token);
  const auto stub = echo::Echo::NewStub(
      grpc::CreateChannel(fixture.target(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_credentials(credentials);
  context.set_deadline(std::chrono::system_clock::now() + kSoon);
  echo::Words words, answer;
  const grpc::Status status = stub->Say(&context, words, &answer);
  CHECK_FALSE(status.ok());
  CHECK(status.error_message().find("secret-token") == std::string::npos);
  CHECK(fixture.service.last_peer() == Peer());
}

// 16 for one account would be 16 for all of a cluster's agents.
TEST_CASE("guard: connections without a certificate are counted under their address") {
  TcpServer::Settings settings = without_certificates();
  settings.callers.connections = 2;
  std::atomic<size_t> cut = 0;
  std::string holder;
  settings.on_cut = [&](const Cut& one) {
    holder = one.holder;
    ++cut;
  };
  TlsFixture fixture(settings);
  std::vector<std::unique_ptr<TlsChannel>> channels;
  for (int n = 0; n < 3; ++n) {
    channels.push_back(
        TlsChannel::open({fixture.target(), {{}, {}, fixture.client_files.files.ca}, {}, {}})
            .value());
    CHECK(say(*channels.back(), "hello"));
  }
  CHECK(in_time([&] { return cut > 0; }));
  CHECK(say(*fixture.channel(), "hello"));
  fixture.server.reset();
  CHECK(holder == "address 127.0.0.1");
}

}  // namespace
}  // namespace ibpod::rpc
