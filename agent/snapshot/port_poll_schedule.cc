#include "agent/snapshot/port_poll_schedule.h"

#include <algorithm>

namespace ibpod::agent::snapshot {
namespace {

using device_plugin::UnhealthyReason;

bool is_transient(const device_plugin::Health& health) {
  return health.reason == UnhealthyReason::pf_down ||
         health.reason == UnhealthyReason::port_not_active ||
         health.reason == UnhealthyReason::no_guid ||
         health.reason == UnhealthyReason::wrong_subnet;
}

std::set<std::string> waiting_in(const Snapshot& snapshot) {
  std::set<std::string> waiting;
  for (const auto& [id, health] : snapshot.health)
    if (is_transient(health)) waiting.insert(id);
  // With several fabrics, a PF's fabric is known when its port is up: until then its VFs have
  // neither GUIDs nor drivers.
  if (!snapshot.preparation_errors.empty()) waiting.insert("preparation");
  return waiting;
}

}  // namespace

void PortPollSchedule::update(const Snapshot& snapshot, bool ports) {
  std::set<std::string> now = waiting_in(snapshot);
  const bool more = !std::includes(waiting_.begin(), waiting_.end(), now.begin(), now.end());
  waiting_ = std::move(now);
  if (more) pauses_.reset();
  if (waiting_.empty())
    due_ = Deadline::at(Deadline::Clock::time_point::max());
  else if (more || (ports && due_.passed()))
    due_ = Deadline::in(pauses_.next());
}

}  // namespace ibpod::agent::snapshot
