// Attacks on a server of HTTP/2 by a client whose certificate is good. Each goes on, on one
// connection, until that is cut or the time is over.
#pragma once

#include "lib/base/clock.h"
#include "tests/support/raw_http2.h"

#include <functional>
#include <string>
#include <vector>

namespace ibpod {

struct Http2Attack {
  std::string name;
  // Its results do not matter; false: the connection was cut.
  std::function<bool(RawHttp2& connection, const std::string& path, Deadline end)> run;
  bool acknowledge = true;  // the server's settings, without which they bind nobody
};

// By name: "reset" …; path is that of a method that the server has.
const std::vector<Http2Attack>& http2_attacks();
const Http2Attack& http2_attack(const std::string& name);

}  // namespace ibpod
