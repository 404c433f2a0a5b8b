// Those who are slow on purpose keep nobody from being served.
#include "tests/fabric/sm/secure_fixture.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace ibpod {
namespace {

Fd connect_to(const SecureFixture& fixture) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(SecureFixture::kPort);
  REQUIRE(::inet_pton(AF_INET, fixture.host().c_str(), &address.sin_addr) == 1);
  REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

// The first message of a client that speaks TLS.
std::string client_hello() {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const tls = SSL_new(context);
  BIO* const sent = BIO_new(BIO_s_mem());
  SSL_set_bio(tls, BIO_new(BIO_s_mem()), sent);
  SSL_connect(tls);
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(sent, &bytes));
  std::string hello(bytes, size);
  SSL_free(tls);
  SSL_CTX_free(context);
  return hello;
}

bool sent(const Fd& connection, std::string_view bytes) {
  return ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

// The next byte. One whose time for a handshake is over has been cut off, and comes again.
void drip(const SecureFixture& fixture, Fd& connection, std::string_view hello, size_t nth) {
  if (sent(connection, hello.substr(nth, 1))) return;
  connection = connect_to(fixture);
  REQUIRE(sent(connection, hello.substr(0, nth + 1)));
}

TEST_CASE("500 slow clients keep no Bind from being verified") {
  SecureFixture fixture;
  fixture.create_partition("blue");
  const std::string hello = client_hello();
  REQUIRE(hello.size() > 100);
  std::vector<Fd> silent, halfway, dripping;
  for (int n = 0; n < 150; ++n) silent.push_back(connect_to(fixture));
  for (int n = 0; n < 150; ++n) {
    halfway.push_back(connect_to(fixture));
    REQUIRE(sent(halfway.back(), hello));  // and never an answer to what the server says then
  }
  for (int n = 0; n < 200; ++n) dripping.push_back(connect_to(fixture));
  for (size_t nth = 0; nth < 5; ++nth) {
    for (Fd& one : dripping) drip(fixture, one, hello, nth);
    // A connection of its own each time.
    const unsigned host = 1 + static_cast<unsigned>(nth);
    const auto bound =
        fixture.node(host).bind(SmFixture::request(host, "blue"), SmFixture::deadline_in());
    REQUIRE_MESSAGE(bound, bound.error().text());
    CHECK(bound->state == fabric::BindingState::verified);
    CHECK(ib::find_in(fixture.table(host), ib::PKey(0x8001)));
  }
}

}  // namespace
}  // namespace ibpod
