#include "lib/mad/pkey_tables.h"

namespace ibpod::mad {

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
