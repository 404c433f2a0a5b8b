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

// Writes blocks, at most one of each table, and reads each back: returns what the port answered
// afterwards, and not_permitted if it can be read but not written. The caller compares the answer
// with what was written, because the subnet manager writes there too. A block is written whole, so
// that a concurrent change of it is lost. Each of the two steps has the options' attempts; both
// share the deadline.
std::vector<Outcome<PKeyBlock>> write_blocks(Scheduler& scheduler,
                                             const std::vector<BlockWrite>& writes,
                                             const QueryOptions& options);

}  // namespace ibpod::mad
