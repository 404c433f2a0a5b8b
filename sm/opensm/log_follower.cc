#include "sm/opensm/log_follower.h"

#include <string>

namespace ibpod::sm::opensm {
namespace {

// Bytes read of an earlier log: enough to find OpenSM's last change of state.
constexpr uint64_t kHistory = 4 << 20;

}  // namespace

std::optional<LogFollower::Part> LogFollower::read() {
  const auto bytes = tail_.read();
  if (!bytes || bytes->empty()) return std::nullopt;
  return Part{tail_.take_lost(), reader_.take(*bytes)};
}

std::vector<LogMark> LogFollower::reread() {
  std::string log;
  if (tail_.skip(kHistory)) {
    for (auto bytes = tail_.read(); bytes && !bytes->empty(); bytes = tail_.read()) log += *bytes;
  }
  reader_.restart();
  return reader_.take(of_last_process(log));
}

}  // namespace ibpod::sm::opensm
