// P_KeyTable: a port's table in blocks of 32 places (IBA 1.4, volume 1, 14.2.5.7). Codec only;
// what is asked of whole tables is in pkey_tables.h.
#pragma once

#include "lib/ib/pkey.h"
#include "lib/mad/smp.h"

#include <array>
#include <cstdint>
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
// The blocks that have to be written to make `from` into `to`, in order. Where one table is
// shorter, its places beyond the end count as 0x0000.
std::vector<uint16_t> different_blocks(const ib::PKeyTable& from, const ib::PKeyTable& to);

}  // namespace ibpod::mad
