#include "lib/mad/pkey_block.h"

#include "lib/mad/bytes.h"

#include <algorithm>
#include <utility>

namespace ibpod::mad {
namespace {

template <size_t... Index>
PKeyBlock load_keys(const Data& data, std::index_sequence<Index...>) {
  return {ib::PKey(load<uint16_t, Index * sizeof(uint16_t)>(data))...};
}

template <size_t... Index>
void store_keys(Data& data, const PKeyBlock& block, std::index_sequence<Index...>) {
  (store<Index * sizeof(uint16_t)>(data, block[Index].value()), ...);
}

constexpr std::make_index_sequence<kBlockEntries> kEntries;

}  // namespace

Result<PKeyBlock> parse_pkey_block(const Data& data) { return load_keys(data, kEntries); }

Data encode(const PKeyBlock& block) {
  Data data{};
  store_keys(data, block, kEntries);
  return data;
}

PKeyBlock block_of(const ib::PKeyTable& table, uint16_t block) {
  PKeyBlock found{};
  const size_t first = std::min(table.size(), block * kBlockEntries);
  const size_t count = std::min(kBlockEntries, table.size() - first);
  std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(first), count, found.begin());
  return found;
}

std::vector<uint16_t> different_blocks(const ib::PKeyTable& from, const ib::PKeyTable& to) {
  const auto partition_cap = static_cast<uint16_t>(std::max(from.size(), to.size()));
  std::vector<uint16_t> found;
  for (uint16_t block = 0; block < blocks_of(partition_cap); ++block) {
    if (block_of(from, block) != block_of(to, block)) found.push_back(block);
  }
  return found;
}

}  // namespace ibpod::mad
