// Verdict: what is wrong with a port's P_Key table; and the table that would be right.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pkey.h"
#include "sm/tables/desired_keys.h"

#include <string>
#include <vector>

namespace ibpod::sm::tables {

struct TableDiff {
  std::vector<ib::PKey> missing = {};  // wanted, and not there
  std::vector<ib::PKey> foreign = {};  // there, and not wanted
  bool index0 = true;                  // the wanted key is at index 0, where there is one

  bool good() const { return missing.empty() && foreign.empty() && index0; }
  // "lacks 0x8001; holds 0x8002, which no partition assigns"
  std::string text() const;
  bool operator==(const TableDiff&) const = default;
};

// A table holds what is wanted where it holds exactly that: 16 bits each, so that a full key is
// foreign where a limited one is wanted. At which index is all the same but for index 0. Free
// places are 0x0000 and 0x8000.
TableDiff compare(const ib::PKeyTable& table, const DesiredTable& desired);

// The table with all that is wanted and nothing else. Right keys stay where they are, for the
// subnet manager remembers its own: but for the one that has to leave index 0. The default
// partition's key comes to index 0 if it has to be put anywhere, and no other has to be there. busy
// where there are more keys than places.
Result<ib::PKeyTable> mended(const ib::PKeyTable& table, const DesiredTable& desired);

}  // namespace ibpod::sm::tables
