// Exchange: one HTTP request in memory, answered in memory. cpp-httplib reads and writes HTTP;
// sockets are the server's.
#pragma once

#include "lib/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ibpod::http {

// What the server shows. All of them are called from its threads, several at a time.
struct Pages {
  std::function<std::string()> metrics;  // Prometheus' text format; two at a time at most
  std::function<Status()> healthy;       // /healthz: the program works at all
  std::function<Status()> ready;         // /readyz: it does its job
};

class Exchange {
 public:
  explicit Exchange(Pages pages);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // The whole answer to a request, of which the headers must be there. Every answer ends its
  // connection. From any thread.
  std::string answer(std::string_view request) const;

 private:
  class Speaker;
  std::unique_ptr<Speaker> speaker_;
};

}  // namespace ibpod::http
