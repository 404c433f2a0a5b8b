// Ranges: the P_Keys and GUIDs that the user chooses for ibpod-sm.
#pragma once

#include "lib/base/result.h"
#include "sm/pool/guid_pool.h"
#include "sm/pool/pkey_pool.h"

#include <string>
#include <vector>

namespace ibpod::ctl::convert {

struct Ranges {
  std::vector<sm::pool::PKeyRange>
      pkeys;  // that ibpod-sm alone may write; PKeyPool::make takes them
  std::vector<sm::pool::GuidRange> guids;  // for VFs; GuidPool::make takes them; may be empty
};

// Each text is "FIRST-LAST" or one value, of --pkeys and of --guids; the P_Keys are for partitions
// that request one. invalid, naming the option, the text, and what would be right; also if there
// are no P_Keys.
Result<Ranges> read_ranges(const std::vector<std::string>& pkeys,
                           const std::vector<std::string>& guids);

}  // namespace ibpod::ctl::convert
