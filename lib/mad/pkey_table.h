// P_KeyTable: a port's table in blocks of 32 entries (IBA 1.4, volume 1, 14.2.5.7): the codec of a
// block, and the requests that read a whole table or write a block.
#pragma once

#include "lib/ib/pkey.h"
#include "lib/mad/query.h"
#include "lib/mad/smp.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ibpod::mad {

inline constexpr size_t kBlockEntries = 32;
using PKeyBlock = std::array<ib::PKey, kBlockEntries>;

// How many blocks a table of so many places has.
constexpr uint16_t blocks_of(uint16_t partition_cap) {
  return static_cast<uint16_t>((partition_cap + kBlockEntries - 1) / kBlockEntries);
}

// The modifier that names a block. `port` is an external port of a switch; 0 is its port 0, and the
// only choice for adapters and routers, where the port is the one that the question comes in by.
constexpr uint32_t pkey_modifier(uint8_t port, uint16_t block) {
  return uint32_t{port} << 16 | block;
}

// Entries beyond the end of a table, in its last block, mean nothing.
Result<PKeyBlock> parse_pkey_block(const Data& data);
Data encode(const PKeyBlock& block);

// A block of a table; places beyond the table's end are 0x0000.
PKeyBlock block_of(const ib::PKeyTable& table, uint16_t block);
// The blocks that have to be written to make `from` into `to`, in order. If one table is shorter,
// its entries beyond the end count as 0x0000.
std::vector<uint16_t> different_blocks(const ib::PKeyTable& from, const ib::PKeyTable& to);

// A table: its port, and how many entries it has (NodeInfo.partition_cap; for an external port of a
// switch SwitchInfo.partition_cap).
struct PKeyTableAddress {
  PortAddress at;
  uint16_t partition_cap = 0;
};

// A request for one block. `keys` is what a Set writes; a Get ignores it.
Request block_request(Method method, const PortAddress& at, uint16_t block, const PKeyBlock& keys,
                      const QueryOptions& options);
// The requests that read a table, block by block, and the table that their outcomes make.
std::vector<Request> table_requests(const PKeyTableAddress& table, const QueryOptions& options);
Outcome<ib::PKeyTable> table_of(std::span<const Outcome<Data>> blocks, uint16_t partition_cap);

}  // namespace ibpod::mad
