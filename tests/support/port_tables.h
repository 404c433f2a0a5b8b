// P_Key tables where they are, read and written at once. Whoever waits is the calling thread, which
// must not be a scheduler's.
#pragma once

#include "lib/mad/pkey_table.h"

#include <vector>

namespace ibpod::mad {

// The tables in the order asked for, each with exactly as many keys as it has places, free ones as
// 0x0000. A table is there whole or not at all; its blocks are read at different moments.
std::vector<Outcome<ib::PKeyTable>> read_tables(Scheduler& scheduler,
                                                const std::vector<PKeyTableAddress>& tables,
                                                const QueryOptions& options);

struct BlockWrite {
  PortAddress at;
  uint16_t block = 0;
  PKeyBlock keys = {};
};

// Writes blocks, at most one of each table, and reads each back: what is returned is what the port
// said afterwards, and not_permitted where it would be read but not written. Whether that is what
// was written is for the caller to compare: somebody else writes there too, the subnet manager. A
// block is written whole, so that what another has put into it meanwhile is lost. Each of the two
// steps has the terms' attempts, both share the deadline.
std::vector<Outcome<PKeyBlock>> write_blocks(Scheduler& scheduler,
                                             const std::vector<BlockWrite>& writes,
                                             const QueryOptions& options);

}  // namespace ibpod::mad
