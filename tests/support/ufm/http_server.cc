#include "tests/support/ufm/http_server.h"

#include "tests/support/ufm/http_session.h"

#include <array>
#include <csignal>

#include <poll.h>
#include <sys/socket.h>

namespace ibpod::fake_ufm {

Result<std::unique_ptr<HttpServer>> HttpServer::start(const http::Address& address,
                                                      const TlsContext& tls, HttpHandler handler) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to a client that has gone
  Fd listening = TRY(http::listen_on(address));
  http::Address bound = TRY(http::bound_address(listening, address));
  Wake wake = TRY(Wake::open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(bound), std::move(listening),
                                                    std::move(wake), tls, std::move(handler)));
}

HttpServer::HttpServer(http::Address address, Fd listening, Wake wake, TlsContext tls,
                       HttpHandler handler)
    : address_(std::move(address)),
      listening_(std::move(listening)),
      wake_(std::move(wake)),
      handler_(std::move(handler)),
      tls_(std::move(tls)),
      thread_([this] { run(); }) {}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.ring();
  thread_.join();
  cut_off();
  for (Client& client : clients_) client.thread.join();
}

void HttpServer::run() {
  while (true) {
    std::array<pollfd, 2> waited{{{listening_.get(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), -1);
    wake_.drain();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    forget_gone();
    if (waited[0].revents != 0) accept();
  }
}

void HttpServer::accept() {
  Fd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return;
  const std::lock_guard lock(mutex_);
  Client& client = clients_.emplace_back();
  client.fd = std::move(fd);
  client.thread = std::thread([this, &client, tls = tls_] {
    serve_http(client.fd.get(), tls, handler_);
    const std::lock_guard ended(mutex_);
    client.fd.close();
    client.over = true;
    wake_.ring();
  });
}

void HttpServer::forget_gone() {
  std::list<Client> gone;
  {
    const std::lock_guard lock(mutex_);
    for (auto client = clients_.begin(); client != clients_.end();) {
      const auto next = std::next(client);
      if (client->over) gone.splice(gone.end(), clients_, client);
      client = next;
    }
  }
  for (Client& client : gone) client.thread.join();
}

void HttpServer::cut_off() {
  const std::lock_guard lock(mutex_);
  for (const Client& client : clients_)
    if (client.fd.valid()) ::shutdown(client.fd.get(), SHUT_RDWR);
}

void HttpServer::change_certificate(TlsContext tls) {
  {
    const std::lock_guard lock(mutex_);
    tls_ = std::move(tls);
  }
  cut_off();
}

}  // namespace ibpod::fake_ufm
