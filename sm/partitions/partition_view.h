// PartitionView: the partitions for reading: their status for callers, and their definitions for
// the subnet manager.
//
// Callers are authorized before they get here (sm/api/call_gate.h): a node can read no partitions.
// What it shows is durable after Journal::commit().
#pragma once

#include "lib/fabric/partition.h"
#include "lib/fabricapi/calls.h"
#include "sm/state/journal.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::partitions {

using Definitions = std::vector<fabric::PartitionDefinition>;

// A partition whose deletion waits only for ports.
struct DeletedPartition {
  std::string name;
  state::Steady since;
  std::vector<ib::Guid> ports;
};

class PartitionView {
 public:
  // `journal` outlives it.
  explicit PartitionView(const state::Journal& journal) : journal_(journal) {}

  std::optional<fabric::PartitionStatus> find(const std::string& name) const;
  Result<fabricapi::ListPage<fabric::PartitionStatus>> list(
      const fabricapi::PageRequest& page) const;
  // Sorted by name.
  std::vector<DeletedPartition> deleted() const;
  fabric::PartitionStatus status(const state::PartitionRecord& record) const;

  // For the subnet manager: Policy::default_rule, then the partitions that are not being deleted,
  // by name. Valid after a successful commit(), and the same object until the journal's version()
  // changes. While the store cannot be read, the last ones.
  std::shared_ptr<const Definitions> definitions() const;
  // definitions() with this one: a new one, or instead of the one with its name.
  Definitions definitions_with(const fabric::PartitionDefinition& definition) const;
  Definitions definitions_without(const std::string& name) const;

 private:
  const state::Records& records() const { return journal_.records(); }

  const state::Journal& journal_;
  mutable std::shared_ptr<const Definitions> definitions_;
  mutable uint64_t definitions_version_ = 0;
};

}  // namespace ibpod::sm::partitions
