#include "lib/mad/pkey_table.h"

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

Request block_request(Method method, const PortAddress& at, uint16_t block, const PKeyBlock& keys,
                      const QueryOptions& options) {
  SmpRequest question{.method = method,
                      .attribute = Attribute::pkey_table,
                      .modifier = pkey_modifier(at.port, block),
                      .m_key = options.m_key};
  if (method == Method::set) question.data = encode(keys);
  return {at.route, question, options.retry};
}

std::vector<Request> table_requests(const PKeyTableAddress& table, const QueryOptions& options) {
  std::vector<Request> requests;
  for (uint16_t block = 0; block < blocks_of(table.partition_cap); ++block)
    requests.push_back(block_request(Method::get, table.at, block, {}, options));
  return requests;
}

Outcome<ib::PKeyTable> table_of(std::span<const Outcome<Data>> blocks, uint16_t partition_cap) {
  ib::PKeyTable table;
  for (const auto& block : blocks) {
    const auto keys = parse_outcome<PKeyBlock>(block, parse_pkey_block);
    if (const Failure* failure = failure_of(keys)) return *failure;
    table.insert(table.end(), value_of(keys)->begin(), value_of(keys)->end());
  }
  table.resize(partition_cap);
  return table;
}

}  // namespace ibpod::mad
