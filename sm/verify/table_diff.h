// TableDiff: the difference between a P_Key table and the desired keys. repaired(): the corrected
// table.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pkey.h"
#include "sm/verify/desired_keys.h"

#include <string>
#include <vector>

namespace ibpod::sm::verify {

struct TableDiff {
  std::vector<ib::PKey> missing = {};  // desired, but not in the table
  std::vector<ib::PKey> foreign = {};  // in the table, but not desired
  bool index0 = true;                  // the key required at index 0 is there

  bool good() const { return missing.empty() && foreign.empty() && index0; }
  // "lacks 0x8001; holds 0x8002, which no partition assigns"
  std::string text() const;
  bool operator==(const TableDiff&) const = default;
};

// Compares all 16 bits: a full key is foreign if the limited one is desired. Positions other than
// index 0 do not matter. Free entries are 0x0000 and 0x8000.
TableDiff compare(const ib::PKeyTable& table, const DesiredTable& desired);

// The table with exactly the desired keys; busy if it has too few entries. Right keys keep their
// index, which the subnet manager remembers, except one that must leave index 0. A missing key of
// the default partition goes to index 0 if no other key must be there.
Result<ib::PKeyTable> repaired(const ib::PKeyTable& table, const DesiredTable& desired);

}  // namespace ibpod::sm::verify
