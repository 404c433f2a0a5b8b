#include "tests/support/raw_http2.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

namespace ibpod {
namespace {

void require(bool success) {
  if (!success) std::abort();
}

std::string number(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

uint32_t number_at(std::string_view bytes, size_t offset, size_t size = 4) {
  uint32_t value = 0;
  for (const char byte : bytes.substr(offset, size))
    value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// HPACK's integers, of a prefix of 7 bits that is otherwise 0.
std::string length(size_t size) {
  if (size < 127) return {static_cast<char>(size)};
  std::string bytes{127};
  for (size -= 127; size >= 128; size >>= 7) bytes += static_cast<char>((size & 127) | 128);
  return bytes + static_cast<char>(size);
}

std::string text(std::string_view value) { return length(value.size()).append(value); }

void use(SSL_CTX* context, const TestCa::Issued& own) {
  BIO* const certificate = BIO_new_mem_buf(own.certificate.data(), -1);
  BIO* const key = BIO_new_mem_buf(own.key.data(), -1);
  X509* const x509 = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* const pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  require(SSL_CTX_use_certificate(context, x509) == 1);
  require(SSL_CTX_use_PrivateKey(context, pkey) == 1);
  X509_free(x509);
  EVP_PKEY_free(pkey);
  BIO_free(certificate);
  BIO_free(key);
}

SSL_CTX* context_of(const TestCa::Issued& own) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  if (!own.certificate.empty()) use(context, own);
  require(SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>("\2h2"), 3) == 0);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

Fd connected(const std::string& host, uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  require(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1);
  const timeval limit{5, 0};  // of connect(2), too
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fd.close();
  return fd;
}

}  // namespace

namespace http2 {

std::string frame(Type type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes = number(static_cast<uint32_t>(payload.size())).substr(1);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  return (bytes + number(stream)).append(payload);
}

std::string reset(uint32_t stream) { return frame(Type::reset, 0, stream, number(8)); }

std::string headers(std::string_view path, bool first) {
  const std::string post_https = "\x83\x87";
  if (!first) return post_https + "\xc1\xc0\xbf\xbe";
  return post_https + "\x41" + text("ibpod-sm") + "\x44" + text(path) + "\x40" + text("te") +
         text("trailers") + "\x5f" + text("application/grpc");
}

std::string field(std::string_view name, std::string_view value) {
  return std::string(1, '\x10') + text(name) + text(value);
}

}  // namespace http2

std::optional<RawHttp2> RawHttp2::connect(const std::string& host, uint16_t port,
                                          const TestCa::Issued& own, bool acknowledge) {
  Fd socket = connected(host, port);
  if (!socket.valid()) return std::nullopt;
  SSL_CTX* const context = context_of(own);
  RawHttp2 client(std::move(socket), SSL_new(context));
  SSL_CTX_free(context);
  if (!client.begin(acknowledge)) return std::nullopt;
  return client;
}

RawHttp2::RawHttp2(RawHttp2&& other) noexcept
    : socket_(std::move(other.socket_)),
      tls_(std::exchange(other.tls_, nullptr)),
      received_(std::move(other.received_)),
      has_settings_(other.has_settings_),
      initial_window_(other.initial_window_),
      connection_window_(other.connection_window_),
      windows_(std::move(other.windows_)) {}

RawHttp2::~RawHttp2() { SSL_free(tls_); }

bool RawHttp2::begin(bool acknowledge) {
  // OpenSSL writes to connections that are over. A handler, other than SIG_IGN, is no child's.
  (void)::signal(SIGPIPE, [](int) {});
  require(SSL_set_fd(tls_, socket_.get()) == 1);
  const timeval limit{15, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (SSL_connect(tls_) != 1) return false;
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  require(::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK) == 0);
  std::string hello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(http2::Type::settings, 0, 0, "");
  if (!send(hello)) return false;
  while (!has_settings_)
    if (!receive(15'000)) return false;
  return !acknowledge || send(frame(http2::Type::settings, http2::kAck, 0, ""));
}

// True if another try may help.
bool RawHttp2::wait(int result, int ms) {
  const int error = SSL_get_error(tls_, result);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
  const short events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLIN | POLLOUT;
  pollfd waited{socket_.get(), events, 0};
  return ::poll(&waited, 1, ms) >= 0;
}

bool RawHttp2::send(std::string_view frames) {
  int in_vain = 0;
  while (!frames.empty()) {
    const int written = SSL_write(tls_, frames.data(), static_cast<int>(frames.size()));
    if (written > 0) {
      frames.remove_prefix(static_cast<size_t>(written));
      in_vain = 0;
      continue;
    }
    if (!wait(written, 10) || !receive(0) || ++in_vain == 100) return false;
  }
  return true;
}

bool RawHttp2::receive(int ms) {
  std::array<char, 16384> room;
  while (true) {
    const int read = SSL_read(tls_, room.data(), room.size());
    if (read > 0) {
      received_.append(room.data(), static_cast<size_t>(read));
      take_frames();
      ms = 0;
      continue;
    }
    const int error = SSL_get_error(tls_, read);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    if (ms == 0) return true;
    wait(read, ms);
    ms = 0;
  }
}

void RawHttp2::take_frames() {
  size_t at = 0;
  while (received_.size() - at >= 9) {
    const std::string_view rest = std::string_view(received_).substr(at);
    const size_t size = number_at(rest, 0, 3);
    if (rest.size() < 9 + size) break;
    take(static_cast<uint8_t>(rest[3]), static_cast<uint8_t>(rest[4]), number_at(rest, 5),
         rest.substr(9, size));
    at += 9 + size;
  }
  received_.erase(0, at);
}

void RawHttp2::take(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  constexpr uint8_t kWindowUpdate = 8;
  constexpr uint32_t kInitialWindow = 4;
  if (type == kWindowUpdate) {
    (stream == 0 ? connection_window_ : windows_[stream]) += number_at(payload, 0);
  } else if (type == static_cast<uint8_t>(http2::Type::settings) && (flags & http2::kAck) == 0) {
    has_settings_ = true;
    for (size_t at = 0; at + 6 <= payload.size(); at += 6)
      if (number_at(payload, at, 2) == kInitialWindow) initial_window_ = number_at(payload, at + 2);
  }
}

int64_t RawHttp2::window(uint32_t stream) const {
  const auto found = windows_.find(stream);
  const int64_t own = initial_window_ + (found == windows_.end() ? 0 : found->second);
  return std::min(own, connection_window_);
}

void RawHttp2::sent_data(uint32_t stream, int64_t bytes) {
  windows_[stream] -= bytes;
  connection_window_ -= bytes;
}

}  // namespace ibpod
