#include "sm/verify/node_observations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ibpod::sm::verify {
namespace {

void drop_free_end(ib::PKeyTable& table) {
  while (!table.empty() && table.back().partition() == 0) table.pop_back();
  table.shrink_to_fit();
}

}  // namespace

// Free entries are ignored.
Status check_report(const fabric::Topology& topology, ib::Guid port, const ib::PKeyTable& table) {
  const fabric::Port* const seen = topology.find(port);
  if (seen == nullptr || seen->partition_cap == 0 || table.size() <= seen->partition_cap)
    return ok();
  const auto last =
      std::find_if(table.rbegin(), table.rend(), [](ib::PKey key) { return key.partition() != 0; });
  const auto entries = static_cast<size_t>(table.rend() - last);
  if (entries <= seen->partition_cap) return ok();
  return Error(Code::invalid, "ports.table: port " + port.text() + " has " +
                                  std::to_string(seen->partition_cap) + " entries, got " +
                                  std::to_string(entries));
}

Status NodeObservations::record(const std::string& node, ib::Guid port, NodeObservation observation,
                                size_t most) {
  drop_free_end(observation.table);
  const auto known = reports_.find(port);
  const auto places = entries_by_node_.find(node);
  const bool own = known != reports_.end() && known->second.node == node;
  const size_t others = (places == entries_by_node_.end() ? 0 : places->second) -
                        (own ? known->second.observation.table.size() : 0);
  if (others + observation.table.size() > most)
    return Error(Code::busy, "ports.table: entry limit of node " + node + " reached (" +
                                 std::to_string(most) + "): its tables would have " +
                                 std::to_string(others + observation.table.size()) +
                                 " entries in use with the table of port " + port.text());
  if (own && known->second.observation.table == observation.table) {
    known->second.observation = std::move(observation);
    return ok();
  }
  if (known != reports_.end()) erase(known);
  if (!observation.table.empty()) entries_by_node_[node] += observation.table.size();
  reports_.insert_or_assign(port, Report{node, std::move(observation), {}, {}});
  return ok();
}

NodeObservations::Reports::iterator NodeObservations::erase(Reports::iterator entry) {
  const auto places = entries_by_node_.find(entry->second.node);
  if (places != entries_by_node_.end()) places->second -= entry->second.observation.table.size();
  if (places != entries_by_node_.end() && places->second == 0) entries_by_node_.erase(places);
  return reports_.erase(entry);
}

void NodeObservations::forget(ib::Guid port) {
  const auto entry = reports_.find(port);
  if (entry != reports_.end()) erase(entry);
}

void NodeObservations::forget_before(Time time) {
  for (auto entry = reports_.begin(); entry != reports_.end();)
    entry = entry->second.observation.at < time ? erase(entry) : std::next(entry);
}

const NodeObservation* NodeObservations::find(ib::Guid port) const {
  const auto entry = reports_.find(port);
  return entry == reports_.end() ? nullptr : &entry->second.observation;
}

std::map<ib::Guid, const NodeObservation*> NodeObservations::all() const {
  std::map<ib::Guid, const NodeObservation*> observations;
  for (const auto& [port, entry] : reports_)
    observations.emplace_hint(observations.end(), port, &entry.observation);
  return observations;
}

const TableDiff& NodeObservations::diff(ib::Guid port, const DesiredTable& desired) const {
  const Report& entry = reports_.at(port);
  if (entry.desired == desired) return entry.diff;
  entry.diff = compare(entry.observation.table, desired);
  entry.desired = desired;
  ++compared_;
  return entry.diff;
}

}  // namespace ibpod::sm::verify
