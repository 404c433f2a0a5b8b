// PortPollSchedule: when to read ports again that have no link yet, or no GUID. No event tells that
// the subnet manager has brought a port up: they are read soon, then less and less often.
#pragma once

#include "agent/snapshot/snapshot.h"
#include "lib/base/back_off.h"
#include "lib/base/clock.h"

#include <set>
#include <string>

namespace ibpod::agent::snapshot {

class PortPollSchedule {
 public:
  explicit PortPollSchedule(BackOff pauses = {Duration(500), Duration(60000)}) : pauses_(pauses) {}
  // Before each wait: what the last look has seen, and whether it has looked at ports. Where none
  // has since due(), the next wait is over at once.
  void update(const Snapshot& snapshot, bool ports);
  // Far away while no port is waited for.
  Deadline due() const { return due_; }

 private:
  BackOff pauses_;
  std::set<std::string> waiting_;  // offers, by their id
  Deadline due_ = Deadline::at(Deadline::Clock::time_point::max());
};

}  // namespace ibpod::agent::snapshot
