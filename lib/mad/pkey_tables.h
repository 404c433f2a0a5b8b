// Requests to P_Key tables in their devices: whole tables are read, blocks of 32 entries are
// written.
#pragma once

#include "lib/mad/pkey_block.h"
#include "lib/mad/query.h"

#include <span>
#include <vector>

namespace ibpod::mad {

// A table: whose, and how many places it has (NodeInfo.partition_places; of an external port of a
// switch SwitchInfo.partition_places).
struct PKeyTableAddress {
  PortAddress at;
  uint16_t partition_cap = 0;
};

// One question of them: a block, and of a Set what is to stand there.
Request block_request(Method method, const PortAddress& at, uint16_t block, const PKeyBlock& keys,
                      const QueryOptions& options);
// The questions that read a table, block by block, and the table that their outcomes make.
std::vector<Request> table_requests(const PKeyTableAddress& table, const QueryOptions& options);
Outcome<ib::PKeyTable> table_of(std::span<const Outcome<Data>> blocks, uint16_t partition_cap);

}  // namespace ibpod::mad
