// HttpsServer: an HTTPS server in the process of a test, which decides its answers and its faults.
#pragma once

#include "lib/base/fd.h"
#include "tests/support/test_ca.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ibpod {

struct HttpsRequest {
  std::string method;
  std::string target;                          // path and query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string client;  // the common name in the client's certificate; empty: it has shown none
};

struct HttpsAnswer {
  enum class End {
    whole,
    cut,    // the connection ends in the middle of the body
    reset,  // it is reset before the first byte
    hang,   // no byte until the client goes or the server ends
  };
  int status = 200;
  std::string body = {};
  std::string headers = {};  // more lines, each with its \r\n
  End end = End::whole;
};

// On a port of 127.0.0.1. Connections are kept. Each has a thread.
class HttpsServer {
 public:
  // Called with one request at a time.
  using Handler = std::function<HttpsAnswer(const HttpsRequest&)>;

  // With the certificates of CAs in `client_ca` it asks for a certificate of the client, which may
  // have none.
  HttpsServer(const TestCa::Issued& own, Handler handler, const std::string& client_ca = {});
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;
  ~HttpsServer();

  // "https://127.0.0.1:PORT"
  std::string address() const;
  uint16_t port() const { return port_; }
  // Those that were complete, in their order.
  std::vector<HttpsRequest> requests() const;
  // All that were accepted.
  size_t connections() const;

 private:
  struct Tls;
  void accept_all();
  void serve(Fd fd);
  bool exchange(void* ssl, int fd);
  HttpsAnswer handle(const HttpsRequest& request);

  std::unique_ptr<Tls> tls_;
  Handler handler_;
  uint16_t port_ = 0;
  Fd listener_;
  mutable std::mutex mutex_;
  std::mutex handling_;
  std::vector<HttpsRequest> requests_;
  std::set<int> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace ibpod
