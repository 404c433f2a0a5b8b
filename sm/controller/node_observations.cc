#include "sm/controller/node_observations.h"

#include <iterator>
#include <utility>

namespace ibpod::sm {
namespace {

void drop_free_end(ib::PKeyTable& table) {
  while (!table.empty() && table.back().partition() == 0) table.pop_back();
  table.shrink_to_fit();
}

}  // namespace

Status NodeSights::take(const std::string& node, ib::Guid port, NodeSight sight, size_t most) {
  drop_free_end(sight.table);
  const auto known = entries_.find(port);
  const auto places = places_.find(node);
  const bool own = known != entries_.end() && known->second.node == node;
  const size_t others =
      (places == places_.end() ? 0 : places->second) - (own ? known->second.sight.table.size() : 0);
  if (others + sight.table.size() > most)
    return Error(Code::busy, "ports.table: the tables of node " + node + " have " +
                                 std::to_string(others + sight.table.size()) +
                                 " places in use with that of port " + port.text() +
                                 ", and may have " + std::to_string(most));
  if (own && known->second.sight.table == sight.table) {
    known->second.sight = std::move(sight);
    return ok();
  }
  if (known != entries_.end()) erase(known);
  if (!sight.table.empty()) places_[node] += sight.table.size();
  entries_.insert_or_assign(port, Entry{node, std::move(sight), {}, {}});
  return ok();
}

NodeSights::Entries::iterator NodeSights::erase(Entries::iterator entry) {
  const auto places = places_.find(entry->second.node);
  if (places != places_.end()) places->second -= entry->second.sight.table.size();
  if (places != places_.end() && places->second == 0) places_.erase(places);
  return entries_.erase(entry);
}

void NodeSights::forget(ib::Guid port) {
  const auto entry = entries_.find(port);
  if (entry != entries_.end()) erase(entry);
}

void NodeSights::forget_before(Time time) {
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = entry->second.sight.at < time ? erase(entry) : std::next(entry);
}

const NodeSight* NodeSights::find(ib::Guid port) const {
  const auto entry = entries_.find(port);
  return entry == entries_.end() ? nullptr : &entry->second.sight;
}

std::map<ib::Guid, const NodeSight*> NodeSights::all() const {
  std::map<ib::Guid, const NodeSight*> sights;
  for (const auto& [port, entry] : entries_) sights.emplace_hint(sights.end(), port, &entry.sight);
  return sights;
}

const Verdict& NodeSights::verdict(ib::Guid port, const WantedKeys& wanted) const {
  const Entry& entry = entries_.at(port);
  if (entry.wanted == wanted) return entry.verdict;
  entry.verdict = judge(entry.sight.table, wanted);
  entry.wanted = wanted;
  ++judged_;
  return entry.verdict;
}

}  // namespace ibpod::sm
