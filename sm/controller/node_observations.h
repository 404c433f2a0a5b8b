// NodeSights: the P_Key tables of ports as their nodes tell them: bounded by node, and each judged
// once, however often somebody looks.
#pragma once

#include "lib/base/result.h"
#include "sm/controller/version_history.h"
#include "sm/tables/desired_keys.h"
#include "sm/tables/table_diff.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ibpod::sm::controller {

// What the port's node says.
struct NodeObservation {
  ib::PKeyTable table;
  uint64_t applied = 0;  // the version in place when it was read
  uint64_t swept = 0;    // the version whose sweep was over then
  VersionHistory::Time at{};
};

class NodeObservations {
 public:
  using Time = VersionHistory::Time;

  // In place of what was known of the port; without the free places at the table's end. busy, and
  // nothing is changed, where all tables of this node would have more than `most` places together.
  Status record(const std::string& node, ib::Guid port, NodeObservation observation, size_t most);
  void forget(ib::Guid port);
  void forget_before(Time time);

  // nullptr: its node has said nothing.
  const NodeObservation* find(ib::Guid port) const;
  std::map<ib::Guid, const NodeObservation*> all() const;
  // Of a port that is known. It is kept, and found anew only where something else is wanted than
  // the last time, or the node has told another table.
  const tables::TableDiff& diff(ib::Guid port, const tables::DesiredTable& desired) const;
  // How many verdicts were found so far.
  size_t compared() const { return compared_; }

 private:
  struct Report {
    std::string node;
    NodeObservation observation;
    mutable std::optional<tables::DesiredTable> desired;  // by which `verdict` is
    mutable tables::TableDiff diff;
  };
  using Reports = std::map<ib::Guid, Report>;
  Reports::iterator erase(Reports::iterator entry);

  Reports reports_;
  std::map<std::string, size_t> entries_by_node_;  // by node; none is 0
  mutable size_t compared_ = 0;
};

}  // namespace ibpod::sm::controller
