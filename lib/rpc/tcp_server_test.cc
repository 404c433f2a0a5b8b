#include "lib/rpc/tcp_server.h"

#include "lib/rpc/test_tls.h"
#include "tests/support/in_time.h"

#include <doctest/doctest.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace ibpod::rpc {
namespace {

bool served(TlsBed& bed) { return say(*bed.channel(), "hello").ok(); }

// Whether the caller is turned away, and not by a server that turns everybody away.
bool turned_away(TlsBed& bed, TlsChannel& channel) {
  const auto answer = say(channel, "hello");
  return !answer && answer.error().code() == Code::unavailable && served(bed);
}

std::shared_ptr<grpc::ChannelCredentials> without_certificate(const TestCa& ca) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca.certificate();
  return grpc::SslCredentials(options);
}

Result<echo::Words> say_with(const TlsBed& bed,
                             const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  const auto stub = echo::Echo::NewStub(grpc::CreateChannel(bed.target(), credentials));
  return ask(*stub, &echo::Echo::Stub::Say, {}, Deadline::in(kSoon));
}

TEST_CASE("TLS: the service learns from the certificate who calls") {
  TlsBed bed;
  const auto channel = bed.client(
      {.common_name = "system:node:node-7",
       .names = {"DNS:node-7.example", "URI:spiffe://lab/node-7", "DNS:a.example", "IP:10.0.0.7"}});
  REQUIRE(say(*channel, "hello").value() == "hello");
  const Peer peer = bed.service.last_peer();
  CHECK(peer.common_name == "system:node:node-7");
  CHECK(peer.names ==
        std::vector<std::string>{"DNS=node-7.example", "DNS=a.example", "URI=spiffe://lab/node-7"});
  CHECK_FALSE(peer.local);
}

TEST_CASE("TLS: a name that no terminal should see is no name") {
  TlsBed bed;
  REQUIRE(say(*bed.client(client_named("admin\n")), "hello"));
  CHECK(bed.service.last_peer() == Peer());
}

TEST_CASE("the unix socket's caller is local and has no other name") {
  EchoBed bed;
  const auto stub = echo::Echo::NewStub(connect_unix(bed.socket).value());
  REQUIRE(ask(*stub, &echo::Echo::Stub::Say, {}, Deadline::in(kSoon)));
  CHECK(bed.service.last_peer() == Peer{"", {}, true});
}

TEST_CASE("TLS: a client of another CA, without a certificate, or without TLS is turned away") {
  TlsBed bed;
  const TestCa other;
  CHECK(turned_away(bed, *bed.channel(Files(bed.ca, other.issue(client_named("node-7"))))));
  CHECK_FALSE(say_with(bed, without_certificate(bed.ca)));
  CHECK_FALSE(say_with(bed, grpc::InsecureChannelCredentials()));
  CHECK(served(bed));
}

TEST_CASE("TLS: a client whose certificate is not a client's is turned away") {
  TlsBed bed;
  TestCa::Asked asked = client_named("node-7");
  asked.usage = "serverAuth";
  CHECK(turned_away(bed, *bed.client(asked)));
}

// TlsChannel would not even begin with such a certificate.
TEST_CASE("TLS: a client whose certificate is not valid today is turned away, which is told") {
  TlsBed bed;
  std::mutex mutex;
  size_t refused = 0;  // guarded by mutex
  on_failed_handshake([&](const std::string& why) {
    const std::scoped_lock lock(mutex);
    if (why == "certificate verify failed") ++refused;
  });
  for (const auto& [from, until] : {std::pair(-7200L, -3600L), std::pair(3600L, 7200L)}) {
    TestCa::Asked asked = client_named("node-7");
    asked.from = from;
    asked.until = until;
    const TestCa::Issued issued = bed.ca.issue(asked);
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = bed.ca.certificate();
    options.pem_cert_chain = issued.certificate;
    options.pem_private_key = issued.key;
    CHECK_FALSE(say_with(bed, grpc::SslCredentials(options)));
    CHECK(in_time([&] {
      const std::scoped_lock lock(mutex);
      return refused > 0;
    }));
    const std::scoped_lock lock(mutex);
    refused = 0;
  }
  CHECK(served(bed));
  on_failed_handshake({});
}

TEST_CASE("TLS: a replaced certificate is the next connection's, and open ones go on") {
  TlsBed bed;
  const auto open = bed.channel();
  REQUIRE(say(*open, "hello"));
  // Another CA's: only who believes that one can still connect.
  const TestCa next;
  bed.server_files.put(next.issue(server_named("IP:127.0.0.1")));
  const Files believer(next, bed.ca.issue(client_named("node-8")));
  CHECK(say(*bed.channel(believer), "hello"));
  CHECK_FALSE(say(*bed.channel(), "hello"));
  CHECK(say(*open, "hello"));
  CHECK(bed.server->certificate());
}

TEST_CASE("TLS: a CA that is taken away is believed no more, one that is added is") {
  TlsBed bed;
  const TestCa next;
  const Files client(bed.ca, next.issue(client_named("node-8")));
  REQUIRE_FALSE(say(*bed.channel(client), "hello"));
  Files::put(bed.server_files.files.ca, bed.ca.certificate() + next.certificate());
  CHECK(say(*bed.channel(client), "hello"));
  CHECK(say(*bed.channel(), "hello"));
  Files::put(bed.server_files.files.ca, next.certificate());
  CHECK(say(*bed.channel(client), "hello"));
  CHECK_FALSE(say(*bed.channel(), "hello"));
}

TEST_CASE("TLS: files that cannot be used leave the certificate of before in use, and it is told") {
  TlsBed bed;
  const TestCa::Issued next = bed.ca.issue(server_named("IP:127.0.0.1"));
  TestCa::Asked old = server_named("IP:127.0.0.1");
  old.from = -7200;
  old.until = -3600;
  const TestCa::Issued expired = bed.ca.issue(old);
  const std::vector<TestCa::Issued> bad{
      {next.certificate, expired.key}, expired, {"", next.key}, {next.certificate, "no key"}};
  for (const TestCa::Issued& one : bad) {
    bed.server_files.put(one);
    CHECK(served(bed));
    REQUIRE_FALSE(bed.server->certificate());
    CHECK(bed.server->certificate().error().text().find(bed.server_files.folder.path().string()) !=
          std::string::npos);
    CHECK(bed.server->certificate().error().text().find("BEGIN") == std::string::npos);
  }
  std::filesystem::remove(bed.server_files.files.key);
  CHECK(served(bed));
  CHECK_FALSE(bed.server->certificate());
  bed.server_files.put(next);
  CHECK(served(bed));
  CHECK(bed.server->certificate());
}

TEST_CASE("TLS: that files cannot be used is told though nobody connects, and when they expire") {
  TlsBed bed;
  using std::chrono::system_clock;
  const system_clock::time_point before = bed.server->expires();
  CHECK(before > system_clock::now());
  Files::put(bed.server_files.files.key, "no key");
  CHECK_FALSE(bed.server->certificate());
  CHECK(bed.server->expires() == before);
  TestCa::Asked asked = server_named("IP:127.0.0.1");
  asked.until = 7200;
  bed.server_files.put(bed.ca.issue(asked));
  CHECK(bed.server->certificate());
  CHECK(bed.server->expires() > before);
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
  TlsBed bed;
  const auto channel = bed.channel();
  CHECK_FALSE(say(*channel, std::string(kLargestRequest, 'x')));
  CHECK(say(*channel, std::string(kLargestRequest - 100, 'x')));
}

// With the age that this machine needs today to hear a first word.
TEST_CASE("TLS: a connection of some age is ended, so that the certificate is looked at again") {
  bool heard = false;
  for (const int time : {100, 1'000, 8'000}) {
    TcpServer::Settings settings;
    settings.age = settings.age_grace = Duration(time);
    TlsBed bed(settings);
    const auto channel = bed.channel();
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
    Files::put(bed.server_files.files.ca, TestCa().certificate());
    CHECK_FALSE(stream->Read(&words));  // before the deadline
    CHECK(stream->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
    CHECK_FALSE(say(*channel, "hello"));
    break;
  }
  CHECK(heard);
}

TEST_CASE("TLS: stopping ends streams that would never end") {
  TlsBed bed;
  const auto channel = bed.channel();
  const auto stub = echo::Echo::NewStub(channel->now().value());
  grpc::ClientContext context;
  const auto stream = stub->Listen(&context, {});
  echo::Words words;
  REQUIRE(stream->Read(&words));
  bed.server->stop(Duration(0));
  CHECK_FALSE(stream->Read(&words));
  CHECK(from_grpc(stream->Finish()).error().code() == Code::unavailable);
  CHECK_FALSE(say(*channel, "hello"));
}

}  // namespace
}  // namespace ibpod::rpc
