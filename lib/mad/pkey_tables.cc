#include "lib/mad/pkey_tables.h"

namespace ibpod::mad {

Request block_request(Method method, const Place& at, uint16_t block, const PKeyBlock& keys,
                      const Asking& asking) {
  Question question{.method = method,
                    .attribute = Attribute::pkey_table,
                    .modifier = pkey_modifier(at.port, block),
                    .m_key = asking.m_key};
  if (method == Method::set) question.data = encode(keys);
  return {at.route, question, asking.terms};
}

std::vector<Request> table_requests(const TablePlace& table, const Asking& asking) {
  std::vector<Request> requests;
  for (uint16_t block = 0; block < blocks_of(table.places); ++block)
    requests.push_back(block_request(Method::get, table.at, block, {}, asking));
  return requests;
}

Outcome<ib::PKeyTable> table_of(std::span<const Outcome<Data>> blocks, uint16_t places) {
  ib::PKeyTable table;
  for (const auto& block : blocks) {
    const auto keys = read<PKeyBlock>(block, parse_pkey_block);
    if (const Failure* failure = failure_of(keys)) return *failure;
    table.insert(table.end(), value_of(keys)->begin(), value_of(keys)->end());
  }
  table.resize(places);
  return table;
}

}  // namespace ibpod::mad
