// Route: how a subnet management packet finds its node (IBA 1.4, volume 1, 14.2.1).
#pragma once

#include "lib/base/result.h"
#include "lib/ib/port.h"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace ibpod::mad {

class Route {
 public:
  // A packet names at most that many hops: the first of its 64 places is never used.
  static constexpr size_t kMostHops = 63;

  // By the forwarding tables of the switches. invalid: not a unicast LID (1 to 0xbfff).
  static Result<Route> to(ib::Lid lid);
  // Hop by hop, from our own port on and without any LID: for each node on the way the port by
  // which it is left. None: our own node. invalid: more than kMostHops, or a port 0 or 255.
  static Result<Route> along(std::vector<uint8_t> ports);
  // Our own node, which answers even where nothing else can be reached.
  static Route own() { return Route(0, {}); }

  bool directed() const { return lid_ == 0; }
  // 0 where directed.
  ib::Lid lid() const { return lid_; }
  // Empty where it goes by LID.
  const std::vector<uint8_t>& hops() const { return hops_; }
  // "LID 4", or the path as infiniband-diags write it: "path 0,1,7".
  std::string text() const;

  auto operator<=>(const Route&) const = default;

 private:
  Route(ib::Lid lid, std::vector<uint8_t> hops) : lid_(lid), hops_(std::move(hops)) {}
  ib::Lid lid_;
  std::vector<uint8_t> hops_;
};

}  // namespace ibpod::mad
