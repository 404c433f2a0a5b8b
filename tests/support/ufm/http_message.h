// HttpRequest, HttpReply: one exchange, with what the caller of a UFM can prove about itself, and
// what becomes of the answer on its way.
#pragma once

#include "tests/support/ufm/call.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ibpod::fake_ufm {

struct HttpRequest {
  std::string method = {};                        // GET, POST, PUT or DELETE
  std::string path = {};                          // decoded, without the query
  std::map<std::string, std::string> query = {};  // decoded; of a repeated key the first
  std::string authorization = {};                 // the header's value
  std::string body = {};
  std::optional<std::string> certificate =
      {};  // the common name of the client's, which is verified
};

struct HttpReply {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  Delivery delivery = Delivery::whole;
  std::chrono::milliseconds delay{0};
};

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

}  // namespace ibpod::fake_ufm
