// Step: from a port's table as it is to the one that is wanted.
#pragma once

#include "sm/tables/fabric_snapshot.h"

#include <string>

namespace ibpod::sm {

struct Step {
  bool known = false;  // the port's table is
  bool fits = true;    // both tables have room for the keys
  size_t blocks = 0;   // that differ, at least; the switch port's are counted, too
  std::string before;  // "0:0x7fff 1:0x8001"; empty where it is not known
  // Without a place what the subnet manager is free to put anywhere: "0:0x7fff 0x8001".
  std::string after;
};

Step step_to(const WantedKeys& wanted, ib::Guid port, const Evidence& now);

// "0x7fff 0x8001"
std::string listed(const std::vector<ib::PKey>& keys);

}  // namespace ibpod::sm
