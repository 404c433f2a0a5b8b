// HttpServer: HTTP/1.1 on one address, with or without TLS, for a handler that also says what
// becomes of its answer. A thread for each client: it is for tests, not for strangers.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/base/wake.h"
#include "lib/http/address.h"
#include "tests/support/ufm/http_message.h"
#include "tests/support/ufm/tls.h"

#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace ibpod::fake_ufm {

class HttpServer {
 public:
  // Starts to serve; the handler is called by several threads at once. No `tls`: without TLS.
  static Result<std::unique_ptr<HttpServer>> start(const http::Address& address,
                                                   const TlsContext& tls, HttpHandler handler);
  // Cuts off all clients, also those that wait without end.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // With the port that the kernel chose, if it was 0.
  const http::Address& address() const { return address_; }
  // For the clients that connect from now on; cuts off the others.
  void change_certificate(TlsContext tls);

 private:
  struct Client {
    Fd fd;
    bool over = false;  // guarded by mutex_
    std::thread thread;
  };
  HttpServer(http::Address address, Fd listening, Wake wake, TlsContext tls, HttpHandler handler);
  void run();
  void accept();
  void cut_off();
  void forget_gone();

  http::Address address_;
  Fd listening_;
  Wake wake_;
  HttpHandler handler_;
  std::mutex mutex_;
  TlsContext tls_;             // guarded by mutex_, as the next two
  std::list<Client> clients_;  // only run() adds and removes
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::fake_ufm
