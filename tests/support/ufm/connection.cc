#include "tests/support/ufm/connection.h"

#include <algorithm>
#include <array>

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>

namespace ibpod::fake_ufm {

Connection::Connection(int fd, const TlsContext& tls)
    : fd_(fd), ssl_(tls ? SSL_new(tls.get()) : nullptr, SSL_free) {
  if (ssl_) SSL_set_fd(ssl_.get(), fd_);
}

bool Connection::handshake() { return !ssl_ || SSL_accept(ssl_.get()) == 1; }

std::optional<std::string> Connection::certificate_name() const {
  if (!ssl_) return std::nullopt;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      SSL_get1_peer_certificate(ssl_.get()), X509_free);
  if (!certificate) return std::nullopt;
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return std::string(name.data());
}

ssize_t Connection::read(char* to, size_t size) {
  if (!ssl_) return ::recv(fd_, to, size, 0);
  return std::max(SSL_read(ssl_.get(), to, static_cast<int>(size)), 0);
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void Connection::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ssl_.reset();  // so that no one sends the end of the TLS session
}

void Connection::wait_for_end() {
  pollfd waited{fd_, POLLRDHUP, 0};
  ::poll(&waited, 1, -1);
}

bool Connection::wait(std::chrono::milliseconds delay) {
  pollfd waited{fd_, POLLRDHUP, 0};
  return ::poll(&waited, 1, static_cast<int>(delay.count())) == 0;
}

}  // namespace ibpod::fake_ufm
