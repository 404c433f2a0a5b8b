// TableStep: the change from a port's present table to the desired one.
#pragma once

#include "sm/diagnose/fabric_snapshot.h"

#include <string>

namespace ibpod::sm::diagnose {

struct TableStep {
  bool known = false;  // the port's table is known
  bool fits = true;    // both tables have room for the keys
  size_t blocks = 0;   // blocks to write, at least; including the switch port's
  std::string before;  // "0:0x7fff 1:0x8001"; empty if not known
  // Without an index for keys whose index the subnet manager chooses: "0:0x7fff 0x8001".
  std::string after;
};

TableStep table_step(const verify::DesiredTable& desired, ib::Guid port, const FabricSnapshot& now);

}  // namespace ibpod::sm::diagnose
