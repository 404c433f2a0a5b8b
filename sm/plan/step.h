// Step: from a port's table as it is to the one that is wanted.
#pragma once

#include "sm/tables/evidence.h"

#include <string>

namespace ibpod::sm {

struct Step {
  bool known = false;  // the port's table is
  bool fits = true;    // both tables have room for the keys
  size_t blocks = 0;   // that differ; the switch port's are counted, too
  std::string before;  // "0:0x7fff 1:0x8001"; empty where it is not known
  std::string after;   // without places where these are not known: "0x7fff 0x8001"
};

// `writes`: it is OpenSM that is told, and where no other key has to be at index 0 the default one
// is (as_written() in sm/engine/partitions_file.h).
Step step_to(WantedKeys wanted, ib::Guid port, const Evidence& now, bool writes);

// "0x7fff 0x8001"
std::string listed(const std::vector<ib::PKey>& keys);

}  // namespace ibpod::sm
