// Exchange: one HTTP request in memory, answered in memory. cpp-httplib reads and writes HTTP;
// sockets are the server's.
#pragma once

#include "lib/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ibpod::http {

// The pages of the server. They are called from several threads at once.
struct Pages {
  std::function<std::string()> metrics;  // Prometheus text format; at most two calls at a time
  std::function<Status()> healthy;       // /healthz: the program works at all
  std::function<Status()> ready;         // /readyz: it does its job
};

class Exchange {
 public:
  explicit Exchange(Pages pages);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // The whole answer to a request with complete headers. Every answer ends its connection. From any
  // thread.
  std::string answer(std::string_view request) const;

 private:
  class Speaker;
  std::unique_ptr<Speaker> speaker_;
};

}  // namespace ibpod::http
