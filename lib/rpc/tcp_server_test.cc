#include "lib/rpc/tcp_server.h"

#include "lib/rpc/test_tls.h"
#include "tests/support/in_time.h"

#include <doctest/doctest.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace ibpod::rpc {
namespace {

bool served(TlsFixture& fixture) { return say(*fixture.channel(), "hello").ok(); }

// True if the caller is turned away by a server that serves another one.
bool turned_away(TlsFixture& fixture, TlsChannel& channel) {
  const auto answer = say(channel, "hello");
  return !answer && answer.error().code() == Code::unavailable && served(fixture);
}

std::shared_ptr<grpc::ChannelCredentials> without_certificate(const TestCa& ca) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca.certificate();
  return grpc::SslCredentials(options);
}

Result<echo::Words> say_with(const TlsFixture& fixture,
                             const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  const auto stub = echo::Echo::NewStub(grpc::CreateChannel(fixture.target(), credentials));
  return ask(*stub, &echo::Echo::Stub::Say, {}, Deadline::in(kSoon));
}

TEST_CASE("TLS: the service learns from the certificate who calls") {
  TlsFixture fixture;
  const auto channel = fixture.client(
      {.common_name = "system:node:node-7",
       .names = {"DNS:node-7.example", "URI:spiffe://lab/node-7", "DNS:a.example", "IP:10.0.0.7"}});
  REQUIRE(say(*channel, "hello").value() == "hello");
  const Peer peer = fixture.service.last_peer();
  CHECK(peer.common_name == "system:node:node-7");
  CHECK(peer.names ==
        std::vector<std::string>{"DNS=node-7.example", "DNS=a.example", "URI=spiffe://lab/node-7"});
  CHECK_FALSE(peer.local);
}

TEST_CASE("TLS: a name that no terminal should see is no name") {
  TlsFixture fixture;
  REQUIRE(say(*fixture.client(client_named("admin\n")), "hello"));
  CHECK(fixture.service.last_peer() == Peer());
}

TEST_CASE("the unix socket's caller is local and has no other name") {
  EchoFixture fixture;
  const auto stub = echo::Echo::NewStub(connect_unix(fixture.socket).value());
  REQUIRE(ask(*stub, &echo::Echo::Stub::Say, {}, Deadline::in(kSoon)));
  CHECK(fixture.service.last_peer() == Peer{"", {}, true});
}

TEST_CASE("TLS: a client of another CA, without a certificate, or without TLS is turned away") {
  TlsFixture fixture;
  const TestCa other;
  CHECK(turned_away(fixture,
                    *fixture.channel(Files(fixture.ca, other.issue(client_named("node-7"))))));
  CHECK_FALSE(say_with(fixture, without_certificate(fixture.ca)));
  CHECK_FALSE(say_with(fixture, grpc::InsecureChannelCredentials()));
  CHECK(served(fixture));
}

TEST_CASE("TLS: a client whose certificate is not a client's is turned away") {
  TlsFixture fixture;
  TestCa::CertificateRequest asked = client_named("node-7");
  asked.usage = "serverAuth";
  CHECK(turned_away(fixture, *fixture.client(asked)));
}

// TlsChannel would not even begin with such a certificate.
TEST_CASE("TLS: a client whose certificate is not valid today is turned away, which is told") {
  TlsFixture fixture;
  std::mutex mutex;
  size_t refused = 0;  // guarded by mutex
  on_failed_handshake([&](const std::string& why) {
    const std::scoped_lock lock(mutex);
    if (why == "certificate verify failed") ++refused;
  });
  for (const auto& [from, until] : {std::pair(-7200L, -3600L), std::pair(3600L, 7200L)}) {
    TestCa::CertificateRequest asked = client_named("node-7");
    asked.from = from;
    asked.until = until;
    const TestCa::Issued issued = fixture.ca.issue(asked);
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = fixture.ca.certificate();
    options.pem_cert_chain = issued.certificate;
    options.pem_private_key = issued.key;
    CHECK_FALSE(say_with(fixture, grpc::SslCredentials(options)));
    CHECK(in_time([&] {
      const std::scoped_lock lock(mutex);
      return refused > 0;
    }));
    const std::scoped_lock lock(mutex);
    refused = 0;
  }
  CHECK(served(fixture));
  on_failed_handshake({});
}

TEST_CASE("TLS: a replaced certificate is the next connection's, and open ones go on") {
  TlsFixture fixture;
  const auto open = fixture.channel();
  REQUIRE(say(*open, "hello"));
  // Another CA's: only who believes that one can still connect.
  const TestCa next;
  fixture.server_files.put(next.issue(server_named("IP:127.0.0.1")));
  const Files believer(next, fixture.ca.issue(client_named("node-8")));
  CHECK(say(*fixture.channel(believer), "hello"));
  CHECK_FALSE(say(*fixture.channel(), "hello"));
  CHECK(say(*open, "hello"));
  CHECK(fixture.server->certificate());
}

TEST_CASE("TLS: a CA that is taken away is believed no more, one that is added is") {
  TlsFixture fixture;
  const TestCa next;
  const Files client(fixture.ca, next.issue(client_named("node-8")));
  REQUIRE_FALSE(say(*fixture.channel(client), "hello"));
  Files::put(fixture.server_files.files.ca, fixture.ca.certificate() + next.certificate());
  CHECK(say(*fixture.channel(client), "hello"));
  CHECK(say(*fixture.channel(), "hello"));
  Files::put(fixture.server_files.files.ca, next.certificate());
  CHECK(say(*fixture.channel(client), "hello"));
  CHECK_FALSE(say(*fixture.channel(), "hello"));
}

TEST_CASE("TLS: files that cannot be used leave the previous certificate in use, and it is told") {
  TlsFixture fixture;
  const TestCa::Issued next = fixture.ca.issue(server_named("IP:127.0.0.1"));
  TestCa::CertificateRequest old = server_named("IP:127.0.0.1");
  old.from = -7200;
  old.until = -3600;
  const TestCa::Issued expired = fixture.ca.issue(old);
  const std::vector<TestCa::Issued> bad{
      {next.certificate, expired.key}, expired, {"", next.key}, {next.certificate, "no key"}};
  for (const TestCa::Issued& one : bad) {
    fixture.server_files.put(one);
    CHECK(served(fixture));
    REQUIRE_FALSE(fixture.server->certificate());
    CHECK(fixture.server->certificate().error().text().find(
              fixture.server_files.folder.path().string()) != std::string::npos);
    CHECK(fixture.server->certificate().error().text().find("BEGIN") == std::string::npos);
  }
  std::filesystem::remove(fixture.server_files.files.key);
  CHECK(served(fixture));
  CHECK_FALSE(fixture.server->certificate());
  fixture.server_files.put(next);
  CHECK(served(fixture));
  CHECK(fixture.server->certificate());
}

TEST_CASE("TLS: the state of the files and their expiry are known without a connection") {
  TlsFixture fixture;
  using std::chrono::system_clock;
  const system_clock::time_point before = fixture.server->expires();
  CHECK(before > system_clock::now());
  Files::put(fixture.server_files.files.key, "no key");
  CHECK_FALSE(fixture.server->certificate());
  CHECK(fixture.server->expires() == before);
  TestCa::CertificateRequest asked = server_named("IP:127.0.0.1");
  asked.until = 7200;
  fixture.server_files.put(fixture.ca.issue(asked));
  CHECK(fixture.server->certificate());
  CHECK(fixture.server->expires() > before);
}

TEST_CASE("TLS: a server without files that can be used does not begin") {
  const TestCa ca;
  Files files(ca, ca.issue(server_named("IP:127.0.0.1")));
  EchoService service;
  TcpServer::Settings settings;
  settings.files = files.files;
  Files::put(files.files.ca, "");
  CHECK(TcpServer::serve(listen_on(0), settings, {&service}).error().code() == Code::invalid);
  std::filesystem::remove(files.files.ca);
  CHECK(TcpServer::serve(listen_on(0), settings, {&service}).error().code() == Code::not_found);
}

TEST_CASE("TLS: a request that is too large is refused, and the next is served") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  CHECK_FALSE(say(*channel, std::string(kLargestRequest, 'x')));
  CHECK(say(*channel, std::string(kLargestRequest - 100, 'x')));
}

// With the age that this machine needs today to hear a first word.
TEST_CASE("TLS: a connection of some age is ended, so that the certificate is looked at again") {
  bool heard = false;
  for (const int time : {100, 1'000, 8'000}) {
    TcpServer::Settings settings;
    settings.age = settings.age_grace = Duration(time);
    TlsFixture fixture(settings);
    const auto channel = fixture.channel();
    const auto stub = echo::Echo::NewStub(channel->now().value());
    grpc::ClientContext context;
    set_deadline(context, Deadline::in(kSoon));
    const auto stream = stub->Listen(&context, {});
    echo::Words words;
    heard = stream->Read(&words);
    if (!heard) {
      (void)stream->Finish();  // it was over before that
      continue;
    }
    Files::put(fixture.server_files.files.ca, TestCa().certificate());
    CHECK_FALSE(stream->Read(&words));  // before the deadline
    CHECK(stream->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
    CHECK_FALSE(say(*channel, "hello"));
    break;
  }
  CHECK(heard);
}

TEST_CASE("TLS: stopping ends streams that would never end") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  const auto stub = echo::Echo::NewStub(channel->now().value());
  grpc::ClientContext context;
  const auto stream = stub->Listen(&context, {});
  echo::Words words;
  REQUIRE(stream->Read(&words));
  fixture.server->stop(Duration(0));
  CHECK_FALSE(stream->Read(&words));
  CHECK(from_grpc(stream->Finish()).error().code() == Code::unavailable);
  CHECK_FALSE(say(*channel, "hello"));
}

}  // namespace
}  // namespace ibpod::rpc
