// A served Echo over TCP with mutual TLS, for the tests of server and channel.
#pragma once

#include "lib/rpc/channel.h"
#include "lib/rpc/grpc_log.h"
#include "lib/rpc/tcp_server.h"
#include "lib/rpc/test_echo.h"
#include "lib/rpc/tls_channel.h"
#include "tests/support/test_ca.h"

#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace ibpod::rpc {

constexpr Duration kSoon{20'000};

inline sockaddr_in loopback(uint16_t port, uint8_t host = 1) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(0x7f000000u | host);
  return address;
}

inline const sockaddr* any(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// 0: any port that is free.
inline Fd listen_on(uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(port);
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), any(address), sizeof address) != 0 || ::listen(fd.get(), 1024) != 0)
    std::abort();
  return fd;
}

inline uint16_t port_of(const Fd& fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) std::abort();
  return ntohs(address.sin_port);
}

// Reads what the other side says of its own accord, to the end.
inline bool closed_by_other_side(const Fd& connection) {
  std::array<char, 256> said;
  pollfd waiting{connection.get(), POLLIN, 0};
  while (::poll(&waiting, 1, 20'000) == 1) {
    if (::recv(connection.get(), said.data(), said.size(), 0) <= 0) return true;
  }
  return false;
}

// A connection from 127.0.0.`host`.
inline Fd connect_from(uint8_t host, uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in own = loopback(0, host);
  const sockaddr_in other = loopback(port);
  if (::bind(fd.get(), any(own), sizeof own) != 0 ||
      ::connect(fd.get(), any(other), sizeof other) != 0)
    std::abort();
  return fd;
}

// The three files of one side; certificate and key can be replaced.
struct Files {
  TempFolder folder;
  TlsFiles files{folder.path() / "tls.crt", folder.path() / "tls.key", folder.path() / "ca.crt"};

  Files(const TestCa& believed, const TestCa::Issued& own) {
    put(files.ca, believed.certificate());
    put(own);
  }
  void put(const TestCa::Issued& own) const {
    put(files.certificate, own.certificate);
    put(files.key, own.key);
  }
  static void put(const Path& path, const std::string& content) {
    if (!write_file_atomically(path, content)) std::abort();
  }
};

inline TestCa::CertificateRequest server_named(const std::string& name) {
  return {.common_name = "ibpod-sm", .names = {name}, .usage = "serverAuth"};
}

inline TestCa::CertificateRequest client_named(const std::string& name) {
  return {.common_name = name, .usage = "clientAuth"};
}

struct TlsFixture {
  TestCa ca;
  Files server_files{ca, ca.issue(server_named("IP:127.0.0.1"))};
  Files client_files{ca, ca.issue(client_named("node-7"))};
  EchoService service;
  uint16_t port = 0;
  std::unique_ptr<TcpServer> server;

  explicit TlsFixture(TcpServer::Settings settings = {}) {
    silence_grpc();
    settings.files = server_files.files;
    Fd listening = listen_on(0);
    port = port_of(listening);
    server = TcpServer::serve(std::move(listening), settings, {&service}).value();
  }
  std::string target() const { return "127.0.0.1:" + std::to_string(port); }
  std::unique_ptr<TlsChannel> channel(const Files& files, const std::string& name = {}) const {
    return TlsChannel::open({target(), files.files, name}).value();
  }
  std::unique_ptr<TlsChannel> channel() const { return channel(client_files); }
  // A client of this CA, made now.
  std::unique_ptr<TlsChannel> client(const TestCa::CertificateRequest& asked) const {
    return channel(Files(ca, ca.issue(asked)));
  }
};

inline Result<std::string> say(TlsChannel& channel, const std::string& text) {
  const auto stub = echo::Echo::NewStub(channel.now().value());
  echo::Words words;
  words.set_text(text);
  const echo::Words answer = TRY(ask(*stub, &echo::Echo::Stub::Say, words, Deadline::in(kSoon)));
  return answer.text();
}

}  // namespace ibpod::rpc
