#include "tests/support/https_server.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

namespace ibpod {
namespace {

void require(bool success) {
  if (!success) std::abort();
}

X509* certificate_of(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  require(certificate != nullptr);
  return certificate;
}

EVP_PKEY* key_of(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  require(key != nullptr);
  return key;
}

Fd listening(uint16_t& port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  require(::listen(fd.get(), 64) == 0);
  require(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return fd;
}

std::string client_of(SSL* ssl) {
  X509* const certificate = SSL_get1_peer_certificate(ssl);
  if (certificate == nullptr) return {};
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  X509_free(certificate);
  return name.data();
}

// Until `enough` holds; false if the client ended the connection before.
template <typename Enough>
bool read_until(SSL* ssl, std::string& bytes, const Enough& enough) {
  std::array<char, 16384> part;
  while (!enough()) {
    const int count = SSL_read(ssl, part.data(), static_cast<int>(part.size()));
    if (count <= 0) return false;
    bytes.append(part.data(), static_cast<size_t>(count));
  }
  return true;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

// The request line and the headers, which end in \r\n.
HttpsRequest parse_head(const std::string& head) {
  HttpsRequest request;
  const size_t method = head.find(' '), target = head.find(' ', method + 1);
  request.method = head.substr(0, method);
  request.target = head.substr(method + 1, target - method - 1);
  for (size_t at = head.find("\r\n") + 2; at < head.size();) {
    const size_t end = head.find("\r\n", at), colon = head.find(": ", at);
    require(end != head.npos && colon < end);
    request.headers[lower(head.substr(at, colon - at))] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return request;
}

bool read_request(SSL* ssl, HttpsRequest& request) {
  std::string bytes;
  size_t end = bytes.npos;
  if (!read_until(ssl, bytes, [&] { return (end = bytes.find("\r\n\r\n")) != bytes.npos; }))
    return false;
  request = parse_head(bytes.substr(0, end + 2));
  const auto length = request.headers.find("content-length");
  const size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  const size_t start = end + 4;
  if (!read_until(ssl, bytes, [&] { return bytes.size() >= start + size; })) return false;
  request.body = bytes.substr(start, size);
  request.client = client_of(ssl);
  return true;
}

bool write_all(SSL* ssl, std::string_view bytes) {
  while (!bytes.empty()) {
    const int part = static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20));
    const int count = SSL_write(ssl, bytes.data(), part);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void reset_at_close(int fd) {
  const linger none{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

// A close with unread bytes would be a reset, and the client would not see the alert.
void await_end(int fd) {
  std::array<char, 1024> unread;
  ::shutdown(fd, SHUT_WR);
  while (::recv(fd, unread.data(), unread.size(), 0) > 0) {
  }
}

}  // namespace

struct HttpsServer::Tls {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  Tls(const TestCa::Issued& own, const std::string& client_ca) {
    X509* const certificate = certificate_of(own.certificate);
    EVP_PKEY* const key = key_of(own.key);
    require(SSL_CTX_use_certificate(context, certificate) == 1);
    require(SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    if (client_ca.empty()) return;
    X509* const authority = certificate_of(client_ca);
    require(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority) == 1);
    X509_free(authority);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const std::string session = "test";
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(session.data()),
                                   static_cast<unsigned>(session.size()));
  }
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() { SSL_CTX_free(context); }
};

HttpsServer::HttpsServer(const TestCa::Issued& own, Handler handler, const std::string& client_ca)
    : tls_(std::make_unique<Tls>(own, client_ca)),
      handler_(std::move(handler)),
      listener_(listening(port_)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the client has closed
  accepting_ = std::thread([this] { accept_all(); });
}

HttpsServer::~HttpsServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string HttpsServer::address() const { return "https://127.0.0.1:" + std::to_string(port_); }

std::vector<HttpsRequest> HttpsServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t HttpsServer::connections() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void HttpsServer::accept_all() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.get() < 0) return;
    const int yes = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const std::lock_guard lock(mutex_);
    open_.insert(fd.get());
    threads_.emplace_back([this, fd = std::move(fd)]() mutable { serve(std::move(fd)); });
  }
}

void HttpsServer::serve(Fd fd) {
  SSL* const ssl = SSL_new(tls_->context);
  SSL_set_fd(ssl, fd.get());
  if (SSL_accept(ssl) == 1)
    while (exchange(ssl, fd.get())) {
    }
  else
    await_end(fd.get());
  SSL_free(ssl);
  const std::lock_guard lock(mutex_);
  open_.erase(fd.get());
  fd.close();
}

// One request and its answer; false at the end of the connection.
bool HttpsServer::exchange(void* tls, int fd) {
  SSL* const ssl = static_cast<SSL*>(tls);
  HttpsRequest request;
  if (!read_request(ssl, request)) return false;
  const HttpsAnswer answer = handle(request);
  if (answer.end == HttpsAnswer::End::reset) {
    reset_at_close(fd);
    return false;
  }
  if (answer.end == HttpsAnswer::End::hang) {
    std::string more;
    return read_until(ssl, more, [] { return false; });
  }
  const std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Test\r\n" +
                           answer.headers +
                           "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n";
  if (answer.end == HttpsAnswer::End::whole) return write_all(ssl, head + answer.body);
  (void)write_all(ssl, head + answer.body.substr(0, answer.body.size() / 2));
  return false;
}

HttpsAnswer HttpsServer::handle(const HttpsRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  const std::lock_guard lock(handling_);
  return handler_(request);
}

}  // namespace ibpod
