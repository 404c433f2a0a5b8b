#include "lib/mad/route.h"

namespace ibpod::mad {
namespace {

constexpr ib::Lid kLastUnicast = 0xbfff;

}  // namespace

Result<Route> Route::to(ib::Lid lid) {
  if (lid == 0 || lid > kLastUnicast)
    return Error(Code::invalid, "LID " + std::to_string(lid) + " is not a unicast LID");
  return Route(lid, {});
}

Result<Route> Route::along(std::vector<uint8_t> ports) {
  if (ports.size() > kMostHops)
    return Error(Code::invalid, "a directed route has at most " + std::to_string(kMostHops) +
                                    " hops, not " + std::to_string(ports.size()));
  for (const uint8_t port : ports) {
    if (port == 0 || port == 0xff)
      return Error(Code::invalid, "invalid exit port " + std::to_string(port));
  }
  return Route(0, std::move(ports));
}

std::string Route::text() const {
  if (!directed()) return "LID " + std::to_string(lid_);
  std::string text = "path 0";
  for (const uint8_t port : hops_) text += "," + std::to_string(port);
  return text;
}

}  // namespace ibpod::mad
