#include "lib/rpc/tls_channel.h"

#include "lib/rpc/test_tls.h"

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

TEST_CASE("TLS channel: a server of another CA is not spoken to") {
  TlsFixture fixture;
  const TestCa other;
  const auto answer =
      say(*fixture.channel(Files(other, fixture.ca.issue(client_named("node-7")))), "hello");
  CHECK(answer.error().code() == Code::unavailable);
  CHECK(fixture.service.last_peer() == Peer());
}

TEST_CASE("TLS channel: a server whose certificate is for another name is not spoken to") {
  TlsFixture fixture;
  CHECK_FALSE(say(*fixture.channel(fixture.client_files, "sm.example"), "hello"));
  fixture.server_files.put(fixture.ca.issue(server_named("DNS:sm.example")));
  CHECK(say(*fixture.channel(fixture.client_files, "sm.example"), "hello"));
  CHECK_FALSE(say(*fixture.channel(), "hello"));
  CHECK_FALSE(say(*fixture.channel(fixture.client_files, "other.example"), "hello"));
}

TEST_CASE("TLS channel: a server that has a client's certificate only is not spoken to") {
  TlsFixture fixture;
  fixture.server_files.put(fixture.ca.issue(
      {.common_name = "node-8", .names = {"IP:127.0.0.1"}, .usage = "clientAuth"}));
  CHECK_FALSE(say(*fixture.channel(), "hello"));
}

TEST_CASE("TLS channel: after the client's files were replaced the server sees the new one") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  const auto before = channel->now().value();
  CHECK(channel->now().value() == before);
  REQUIRE(say(*channel, "hello"));
  CHECK(fixture.service.last_peer().common_name == "node-7");
  fixture.client_files.put(fixture.ca.issue(client_named("node-8")));
  CHECK(channel->now().value() != before);
  REQUIRE(say(*channel, "hello"));
  CHECK(fixture.service.last_peer().common_name == "node-8");
}

TEST_CASE("TLS channel: files that cannot be used leave the previous certificate in use") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  REQUIRE(say(*channel, "hello"));
  Files::put(fixture.client_files.files.key, fixture.ca.issue(client_named("node-8")).key);
  REQUIRE(say(*channel, "hello"));
  CHECK(fixture.service.last_peer().common_name == "node-7");
  CHECK_FALSE(channel->certificate());
}

TEST_CASE("TLS channel: a server that comes back is found again") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  REQUIRE(say(*channel, "hello"));
  fixture.server.reset();
  CHECK(say(*channel, "hello").error().code() == Code::unavailable);
  TcpServer::Settings settings;
  settings.files = fixture.server_files.files;
  fixture.server = TcpServer::serve(listen_on(fixture.port), settings, {&fixture.service}).value();
  const auto grpc = channel->now().value();
  REQUIRE(grpc->WaitForConnected(std::chrono::system_clock::now() + kSoon));
  CHECK(say(*channel, "hello"));
}

TEST_CASE("TLS channel: without files that can be used there is none") {
  const TestCa ca;
  Files files(ca, ca.issue(client_named("node-7")));
  CHECK(TlsChannel::open({"127.0.0.1:1", files.files}));
  std::filesystem::remove(files.files.certificate);
  CHECK(TlsChannel::open({"127.0.0.1:1", files.files}).error().code() == Code::not_found);
}

TEST_CASE(
    "TLS channel: a program that goes on without files is told why, and has one behind them") {
  TlsFixture fixture;
  const Files files(fixture.ca,
                    fixture.ca.issue({.common_name = "node-7", .from = -60, .until = -30}));
  const auto channel = TlsChannel::follow({fixture.target(), files.files, {}});
  const auto refused = channel->now();
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text().find("expired at 20") != std::string::npos);
  CHECK(channel->expires());
  files.put(fixture.ca.issue(client_named("node-7")));
  REQUIRE(channel->now());
  CHECK(channel->certificate());
  CHECK(say(*channel, "hello"));
}

}  // namespace
}  // namespace ibpod::rpc
