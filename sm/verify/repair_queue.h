// RepairQueue: repairs of P_Key tables, from planning until the tables are right, with retries.
#pragma once

#include "lib/fabric/topology.h"
#include "sm/probe/repair.h"
#include "sm/verify/table_diff.h"
#include "sm/verify/version_history.h"

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm::verify {

class RepairQueue {
 public:
  using Time = VersionHistory::Time;

  // False during the pause after the port's last repair: one second at first, doubled with each
  // repair, one minute at most.
  bool may_plan(ib::Guid port, Time now) const;
  // `changed_in`: the version in which the keys of the port last changed.
  void plan(ib::Guid port, uint64_t changed_in, const std::vector<probe::Repair>& repairs,
            Time now);
  // Returns the planned repairs, which are then under way. Drops those of ports whose keys have
  // changed since: the subnet manager writes the new keys.
  std::vector<probe::Repair> take(const std::function<uint64_t(ib::Guid)>& changed_in);
  // Records that the port's repair has ended.
  void finished(ib::Guid port) { under_way_.erase(port); }
  // Marks the difference as reported until the port's tables are right. False if all of it was
  // reported before.
  bool mark_reported(ib::Guid port, const TableDiff& diff);
  bool under_way(ib::Guid port) const { return under_way_.contains(port); }
  // Records that the port's tables cannot be read or repaired now.
  void drop(ib::Guid port) { tries_.erase(port); }
  // Records that the port's tables are right.
  void settle(ib::Guid port);
  // Drops ports that are not in `topology`, which is complete: a host could show new GUIDs without
  // end.
  void forget_absent(const fabric::Topology& topology);
  // The ports to read again soon. After five repairs a port waits for the next full scan.
  std::set<ib::Guid> unsettled() const;

 private:
  struct Planned {
    probe::Repair repair;
    uint64_t changed_in = 0;
  };
  struct Tries {
    int count = 0;
    Time next{};
  };
  std::vector<Planned> planned_;
  std::set<ib::Guid> under_way_;
  std::map<ib::Guid, Tries> tries_;
  std::map<ib::Guid, TableDiff> reported_;
};

}  // namespace ibpod::sm::verify
