// NodeSights: the P_Key tables of ports as their nodes tell them: bounded by node, and each judged
// once, however often somebody looks.
#pragma once

#include "lib/base/result.h"
#include "sm/controller/version_history.h"
#include "sm/tables/table_diff.h"
#include "sm/tables/desired_keys.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ibpod::sm {

// What the port's node says.
struct NodeSight {
  ib::PKeyTable table;
  uint64_t placed = 0;  // the version in place when it was read
  uint64_t swept = 0;   // the version whose sweep was over then
  Placements::Time at{};
};

class NodeSights {
 public:
  using Time = Placements::Time;

  // In place of what was known of the port; without the free places at the table's end. busy, and
  // nothing is changed, where all tables of this node would have more than `most` places together.
  Status take(const std::string& node, ib::Guid port, NodeSight sight, size_t most);
  void forget(ib::Guid port);
  void forget_before(Time time);

  // nullptr: its node has said nothing.
  const NodeSight* find(ib::Guid port) const;
  std::map<ib::Guid, const NodeSight*> all() const;
  // Of a port that is known. It is kept, and found anew only where something else is wanted than
  // the last time, or the node has told another table.
  const Verdict& verdict(ib::Guid port, const WantedKeys& wanted) const;
  // How many verdicts were found so far.
  size_t judged() const { return judged_; }

 private:
  struct Entry {
    std::string node;
    NodeSight sight;
    mutable std::optional<WantedKeys> wanted;  // by which `verdict` is
    mutable Verdict verdict;
  };
  using Entries = std::map<ib::Guid, Entry>;
  Entries::iterator erase(Entries::iterator entry);

  Entries entries_;
  std::map<std::string, size_t> places_;  // by node; none is 0
  mutable size_t judged_ = 0;
};

}  // namespace ibpod::sm
