// Mending: repairs of ports' tables, from the moment they are planned until the tables are right;
// and when one that has not helped is tried again.
#pragma once

#include "lib/fabric/topology.h"
#include "sm/controller/version_history.h"
#include "sm/probe/repair.h"
#include "sm/tables/table_diff.h"

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

class RepairQueue {
 public:
  using Time = VersionHistory::Time;

  // False: the last repair of the port may not have shown yet, or has not helped, and its time has
  // not come again. The pause is a second at first and doubles, up to a minute.
  bool may_plan(ib::Guid port, Time now) const;
  // `changed_in`: the version in which the port's part of the partitions last changed.
  void plan(ib::Guid port, uint64_t changed_in, const std::vector<probe::Repair>& repairs,
            Time now);
  // What is planned, and is on its way from now on. It is dropped where the port's part has changed
  // since: what is right now is written by the subnet manager.
  std::vector<probe::Repair> take(const std::function<uint64_t(ib::Guid)>& changed_in);
  // None of the port is on its way any more.
  void finished(ib::Guid port) { under_way_.erase(port); }
  // Marks what is wrong with the port's tables as reported, until they are right. False if all of
  // it was reported before.
  bool mark_reported(ib::Guid port, const tables::TableDiff& diff);
  bool under_way(ib::Guid port) const { return under_way_.contains(port); }
  // Its tables can neither be seen nor repaired now.
  void drop(ib::Guid port) { tries_.erase(port); }
  // Its tables are right.
  void settle(ib::Guid port);
  // Drops all that is known of ports that are not on the subnet any more: a host can show new GUIDs
  // without end. `topology` is whole.
  void forget_absent(const fabric::Topology& topology);
  // Those that are to be read again soon. Of one that is not right after five repairs the next scan
  // tells.
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
  std::map<ib::Guid, tables::TableDiff> reported_;
};

}  // namespace ibpod::sm::controller
