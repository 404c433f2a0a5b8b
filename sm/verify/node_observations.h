// NodeObservations: the P_Key tables of ports as their nodes report them. The number of entries per
// node is limited, and comparisons are cached.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/topology.h"
#include "sm/verify/desired_keys.h"
#include "sm/verify/table_diff.h"
#include "sm/verify/version_history.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ibpod::sm::verify {

// A node's report of one port.
struct NodeObservation {
  ib::PKeyTable table;
  uint64_t applied = 0;  // the version that was in place when it was read
  uint64_t swept = 0;    // the last version that a sweep had applied then
  VersionHistory::Time at{};
};

// invalid, naming the field, if the table has more entries in use than the port of the last scan
// has in total. ok if no scan has found the port.
Status check_report(const fabric::Topology& topology, ib::Guid port, const ib::PKeyTable& table);

class NodeObservations {
 public:
  using Time = VersionHistory::Time;

  // Replaces the report of the port; free entries at the table's end are cut off. Returns busy and
  // changes nothing if the tables of the node would have more than `most` entries in total.
  Status record(const std::string& node, ib::Guid port, NodeObservation observation, size_t most);
  void forget(ib::Guid port);
  void forget_before(Time time);

  // nullptr if there is no report.
  const NodeObservation* find(ib::Guid port) const;
  std::map<ib::Guid, const NodeObservation*> all() const;
  // The difference for a port that has a report. Cached until `desired` or the report changes.
  const TableDiff& diff(ib::Guid port, const DesiredTable& desired) const;
  // The number of comparisons so far, for tests.
  size_t compared() const { return compared_; }

 private:
  struct Report {
    std::string node;
    NodeObservation observation;
    mutable std::optional<DesiredTable> desired;  // `diff` was computed for it
    mutable TableDiff diff;
  };
  using Reports = std::map<ib::Guid, Report>;
  Reports::iterator erase(Reports::iterator entry);

  Reports reports_;
  std::map<std::string, size_t> entries_by_node_;  // never 0
  mutable size_t compared_ = 0;
};

}  // namespace ibpod::sm::verify
