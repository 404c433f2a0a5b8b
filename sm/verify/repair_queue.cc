#include "sm/verify/repair_queue.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

constexpr int kSoon = 5;
constexpr std::chrono::seconds kMostPause{60};

std::chrono::seconds pause_after(int tries) {
  return std::min(std::chrono::seconds(1 << std::min(tries - 1, 10)), kMostPause);
}

// Adds `keys` to `known`. Returns true if all were known already.
bool add_all(std::vector<ib::PKey>& known, const std::vector<ib::PKey>& keys) {
  const size_t before = known.size();
  for (const ib::PKey key : keys)
    if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
  return known.size() == before;
}

}  // namespace

bool RepairQueue::mark_reported(ib::Guid port, const TableDiff& diff) {
  const auto [entry, is_first] = reported_.try_emplace(port, diff);
  if (is_first) return true;
  TableDiff& reported = entry->second;
  const bool missing = add_all(reported.missing, diff.missing);
  const bool foreign = add_all(reported.foreign, diff.foreign);
  const bool index0 = diff.index0 || !std::exchange(reported.index0, diff.index0);
  return !missing || !foreign || !index0;
}

void RepairQueue::settle(ib::Guid port) {
  tries_.erase(port);
  reported_.erase(port);
}

void RepairQueue::forget_absent(const fabric::Topology& topology) {
  const auto is_absent = [&](const auto& entry) { return topology.find(entry.first) == nullptr; };
  std::erase_if(tries_, is_absent);
  std::erase_if(reported_, is_absent);
}

bool RepairQueue::may_plan(ib::Guid port, Time now) const {
  const auto tries = tries_.find(port);
  return tries == tries_.end() || now >= tries->second.next;
}

void RepairQueue::plan(ib::Guid port, uint64_t changed_in,
                       const std::vector<probe::Repair>& repairs, Time now) {
  Tries& tries = tries_[port];
  tries.next = now + pause_after(++tries.count);
  for (const probe::Repair& repair : repairs) planned_.push_back({repair, changed_in});
}

std::vector<probe::Repair> RepairQueue::take(const std::function<uint64_t(ib::Guid)>& changed_in) {
  std::vector<probe::Repair> taken;
  for (const Planned& planned : std::exchange(planned_, {})) {
    if (changed_in(planned.repair.port) != planned.changed_in) continue;
    under_way_.insert(planned.repair.port);
    taken.push_back(planned.repair);
  }
  return taken;
}

std::set<ib::Guid> RepairQueue::unsettled() const {
  std::set<ib::Guid> ports = under_way_;
  for (const auto& [port, tries] : tries_)
    if (tries.count <= kSoon) ports.insert(port);
  return ports;
}

}  // namespace ibpod::sm::verify
