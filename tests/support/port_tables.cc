#include "tests/support/port_tables.h"

#include <span>

namespace ibpod::mad {
namespace {

using Outcomes = std::vector<Outcome<Data>>;

// A node does not answer a Set with another M_Key than its own; its answer to a Get shows that it
// is there. The block may have been written all the same, if only the answers were lost.
Outcome<PKeyBlock> judge(const Outcome<Data>& set, const Outcome<Data>& get,
                         const PKeyBlock& wanted) {
  const Failure* const not_set = failure_of(set);
  if (not_set != nullptr && not_set->reason != Reason::timeout) return *not_set;
  const auto now = parse_outcome<PKeyBlock>(get, parse_pkey_block);
  const PKeyBlock* const keys = value_of(now);
  if (keys == nullptr || not_set == nullptr || *keys == wanted) return now;
  return Failure{Reason::not_permitted, 0};
}

}  // namespace

std::vector<Outcome<ib::PKeyTable>> read_tables(Scheduler& scheduler,
                                                const std::vector<PKeyTableAddress>& tables,
                                                const QueryOptions& options) {
  std::vector<Request> requests;
  for (const PKeyTableAddress& table : tables) {
    const auto some = table_requests(table, options);
    requests.insert(requests.end(), some.begin(), some.end());
  }
  const Outcomes blocks = query_all(scheduler, std::move(requests), options.stop);
  std::span<const Outcome<Data>> left = blocks;
  std::vector<Outcome<ib::PKeyTable>> found;
  for (const PKeyTableAddress& table : tables) {
    const size_t count = blocks_of(table.partition_cap);
    found.push_back(table_of(left.first(count), table.partition_cap));
    left = left.subspan(count);
  }
  return found;
}

std::vector<Outcome<PKeyBlock>> write_blocks(Scheduler& scheduler,
                                             const std::vector<BlockWrite>& writes,
                                             const QueryOptions& options) {
  std::vector<Request> sets;
  std::vector<Request> gets;
  for (const BlockWrite& write : writes) {
    sets.push_back(block_request(Method::set, write.at, write.block, write.keys, options));
    gets.push_back(block_request(Method::get, write.at, write.block, {}, options));
  }
  const Outcomes set = query_all(scheduler, std::move(sets), options.stop);
  const Outcomes get = query_all(scheduler, std::move(gets), options.stop);
  std::vector<Outcome<PKeyBlock>> found;
  for (size_t i = 0; i < writes.size(); ++i) found.push_back(judge(set[i], get[i], writes[i].keys));
  return found;
}

}  // namespace ibpod::mad
