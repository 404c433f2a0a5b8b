#include "sm/verify/table_diff.h"

#include "lib/base/join.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ibpod::sm::verify {
namespace {

bool free(ib::PKey key) { return key.partition() == 0; }

// A hostile port can have 65,535 keys, and the text is in logs, metrics and answers.
constexpr size_t kMostListed = 8;

std::string listed(const std::vector<ib::PKey>& keys) {
  return join_first(kMostListed, keys, &ib::PKey::text);
}

bool right_at_0(const ib::PKeyTable& table, const DesiredTable& desired) {
  return !desired.index0 || (!table.empty() && table.front() == *desired.index0);
}

// Uses the first free entry.
Status put(ib::PKeyTable& table, ib::PKey key) {
  const auto place = std::find_if(table.begin(), table.end(), free);
  if (place == table.end()) {
    return Error(Code::busy, "the P_Key table (" + std::to_string(table.size()) +
                                 " entries) has no free entry for " + key.text());
  }
  *place = key;
  return ok();
}

}  // namespace

std::string TableDiff::text() const {
  std::string text;
  const auto add = [&](const std::string& part) { add_item(text, "; ", part); };
  if (!missing.empty()) add("lacks " + listed(missing));
  if (!foreign.empty()) add("holds " + listed(foreign) + ", which no partition assigns");
  if (missing.empty() && !index0) add("has another key at index 0");
  return text;
}

TableDiff compare(const ib::PKeyTable& table, const DesiredTable& desired) {
  std::set<ib::PKey> found;
  for (const ib::PKey key : table)
    if (!free(key)) found.insert(key);
  TableDiff diff;
  std::set_difference(desired.keys.begin(), desired.keys.end(), found.begin(), found.end(),
                      std::back_inserter(diff.missing));
  std::set_difference(found.begin(), found.end(), desired.keys.begin(), desired.keys.end(),
                      std::back_inserter(diff.foreign));
  diff.index0 = right_at_0(table, desired);
  return diff;
}

Result<ib::PKeyTable> repaired(const ib::PKeyTable& table, const DesiredTable& desired) {
  const TableDiff diff = compare(table, desired);
  ib::PKeyTable right = table;
  for (ib::PKey& key : right) {
    if (std::binary_search(diff.foreign.begin(), diff.foreign.end(), key)) key = ib::PKey();
  }
  std::vector<ib::PKey> missing = diff.missing;
  const std::optional<ib::PKey> first = desired.first();
  const bool lacks_first = first && std::count(missing.begin(), missing.end(), *first) != 0;
  if (!right.empty() && (lacks_first || !right_at_0(right, desired))) {
    for (ib::PKey& key : right)
      if (key == *first) key = ib::PKey();
    std::erase(missing, *first);
    const ib::PKey moved = std::exchange(right.front(), *first);
    if (!free(moved) && std::count(right.begin(), right.end(), moved) == 0)
      missing.push_back(moved);
  }
  for (const ib::PKey key : missing) TRY(put(right, key));
  return right;
}

}  // namespace ibpod::sm::verify
