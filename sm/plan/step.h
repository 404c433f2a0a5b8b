// Step: from a port's table as it is to the one that is wanted.
#pragma once

#include "sm/tables/fabric_snapshot.h"

#include <string>

namespace ibpod::sm::plan {

struct TableStep {
  bool known = false;  // the port's table is
  bool fits = true;    // both tables have room for the keys
  size_t blocks = 0;   // that differ, at least; the switch port's are counted, too
  std::string before;  // "0:0x7fff 1:0x8001"; empty where it is not known
  // Without a place what the subnet manager is free to put anywhere: "0:0x7fff 0x8001".
  std::string after;
};

TableStep table_step(const tables::DesiredTable& desired, ib::Guid port,
                     const tables::FabricSnapshot& now);

// "0x7fff 0x8001"
std::string listed(const std::vector<ib::PKey>& keys);

}  // namespace ibpod::sm::plan
