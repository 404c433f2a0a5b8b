#include "lib/rpc/test_tls.h"
#include "tests/support/in_time.h"

#include <future>

#include <doctest/doctest.h>
#include <openssl/ssl.h>

namespace ibpod::rpc {
namespace {

// The beginning of a client's first message of TLS, which would be 512 bytes long.
constexpr std::array<unsigned char, 9> kHello{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc};

bool send_byte(const Fd& connection, size_t nth) {
  return ::send(connection.get(), &kHello.at(nth), 1, MSG_NOSIGNAL) == 1;
}

void allow_many_descriptors() {
  rlimit descriptors;  // both ends are this process's
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
}

TEST_CASE("500 clients that send byte by byte keep no other client from being served") {
  allow_many_descriptors();
  TcpServer::Settings settings;
  settings.handshake = Duration(600'000);
  TlsFixture fixture(settings);
  std::vector<Fd> slow;
  for (int i = 0; i < 500; ++i) slow.push_back(connect_from(2, fixture.port));
  for (size_t nth = 0; nth < kHello.size(); ++nth) {
    for (const Fd& connection : slow) REQUIRE(send_byte(connection, nth));
    CHECK(say(*fixture.channel(), "hello"));
  }
  fixture.server.reset();
  for (const Fd& connection : slow) CHECK(closed_by_other_side(connection));
}

TEST_CASE("a client that never finishes its handshake is cut off") {
  TcpServer::Settings settings;
  settings.handshake = Duration(100);
  TlsFixture fixture(settings);
  const Fd silent = connect_from(2, fixture.port);
  const Fd slow = connect_from(2, fixture.port);
  REQUIRE(send_byte(slow, 0));
  CHECK(closed_by_other_side(silent));
  CHECK(closed_by_other_side(slow));
}

// A client with a certificate, which speaks TLS and then nothing.
struct TlsClient {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* tls = nullptr;

  TlsClient(const Files& files, int newest, const Fd& connection) {
    const std::string protocol = "\2h2";
    const auto* bytes = reinterpret_cast<const unsigned char*>(protocol.data());
    SSL_CTX_set_security_level(context, 0);  // or TLS 1.1 is not even tried
    REQUIRE(SSL_CTX_use_certificate_file(context, files.files.certificate.c_str(),
                                         SSL_FILETYPE_PEM) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(context, files.files.key.c_str(), SSL_FILETYPE_PEM) == 1);
    REQUIRE(SSL_CTX_set_alpn_protos(context, bytes, 3) == 0);
    REQUIRE(SSL_CTX_set_min_proto_version(context, TLS1_VERSION) == 1);
    REQUIRE(SSL_CTX_set_max_proto_version(context, newest) == 1);
    tls = SSL_new(context);
    REQUIRE(SSL_set_fd(tls, connection.get()) == 1);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() {
    SSL_free(tls);
    SSL_CTX_free(context);
  }
  bool shakes_hands() const { return SSL_connect(tls) == 1; }
};

// With the time for a handshake that this machine needs today.
TEST_CASE("a client with a good certificate that never speaks HTTP/2 is cut off") {
  bool seen = false;
  for (const int time : {500, 4'000, 16'000}) {
    TcpServer::Settings settings;
    settings.handshake = Duration(time);
    const TlsFixture fixture(settings);
    const Fd connection = connect_from(2, fixture.port);
    const TlsClient client(fixture.client_files, TLS1_3_VERSION, connection);
    if (!client.shakes_hands()) continue;
    CHECK(closed_by_other_side(connection));
    seen = true;
    break;
  }
  CHECK(seen);
}

TEST_CASE("TLS older than 1.2 is not spoken") {
  const TlsFixture fixture;
  for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Fd connection = connect_from(2, fixture.port);
    const TlsClient client(fixture.client_files, version, connection);
    CHECK(client.shakes_hands() == (version >= TLS1_2_VERSION));
  }
}

TEST_CASE("an address with all its connections gets no more, and others do") {
  TcpServer::Settings settings;
  settings.handshake = Duration(600'000);
  settings.connections = {100, 2};
  TlsFixture fixture(settings);
  std::vector<Fd> others, own;
  for (int i = 0; i < 2; ++i) others.push_back(connect_from(2, fixture.port));
  CHECK(closed_by_other_side(connect_from(2, fixture.port)));
  CHECK(fixture.server->refused() == 1);
  CHECK(say(*fixture.channel(), "hello"));
  // Once the connection of the line above has come to its end, the two are of these.
  CHECK(in_time([&] {
    own.push_back(connect_from(1, fixture.port));
    return !say(*fixture.channel(), "hello").ok();
  }));
  // A place that has become free is known to be when the next one comes.
  own.clear();
  CHECK(in_time([&] { return say(*fixture.channel(), "hello").ok(); }));
}

TEST_CASE("where all places are taken the next one waits for one, and has it") {
  TcpServer::Settings settings;
  settings.handshake = Duration(600'000);
  settings.connections = {2, 2};
  TlsFixture fixture(settings);
  std::vector<Fd> open;
  for (int i = 0; i < 2; ++i) open.push_back(connect_from(2, fixture.port));
  auto waits =
      std::async(std::launch::async, [&] { return say(*fixture.channel(), "hello").ok(); });
  CHECK(in_time([&] { return fixture.server->starved() > 0; }));
  open.clear();
  CHECK(waits.get());
}

TEST_CASE("a full server counts once, from the first waiting connection until none waits") {
  TcpServer::Settings settings;
  settings.handshake = Duration(600'000);
  settings.connections = {1, 3};
  TlsFixture fixture(settings);
  const auto shakes_hands = [&](const Fd& connection) {
    return TlsClient(fixture.client_files, TLS1_3_VERSION, connection).shakes_hands();
  };
  Fd first = connect_from(2, fixture.port);
  CHECK(shakes_hands(first));
  CHECK(fixture.server->starved() == 0);
  Fd second = connect_from(2, fixture.port);
  const Fd third = connect_from(2, fixture.port);
  CHECK(in_time([&] { return fixture.server->starved() > 0; }));
  // The third waits on when the second has the place.
  first.close();
  CHECK(shakes_hands(second));
  second.close();
  CHECK(shakes_hands(third));
  CHECK(fixture.server->starved() == 1);
}

TEST_CASE("a server without descriptors serves again when it has some") {
  TlsFixture fixture;
  const auto channel = fixture.channel();
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit none = before;
  none.rlim_cur = 3;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const sockaddr_in address = loopback(fixture.port);
  REQUIRE(::connect(client.get(), any(address), sizeof address) == 0);
  CHECK(in_time([&] { return fixture.server->starved() > 0; }));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(say(*channel, "hello"));
}

}  // namespace
}  // namespace ibpod::rpc
