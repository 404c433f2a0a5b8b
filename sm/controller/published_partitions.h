// PublishedPartitions: the partitions given to the subnet manager, the administrator's manual
// partitions in partitions.conf, and the keys that follow from both.
#pragma once

#include "lib/fabric/partition_definition.h"
#include "sm/engine/subnet_manager.h"
#include "sm/verify/desired_keys.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ibpod::sm::controller {

class PublishedPartitions {
 public:
  using Definitions = std::vector<fabric::PartitionDefinition>;

  // `subnet_manager` must outlive it.
  explicit PublishedPartitions(engine::SubnetManager& subnet_manager);

  // Gives the partitions to the subnet manager, unless it has this version already; then returns
  // false. The first one is the default partition.
  bool publish(uint64_t version, const engine::Partitions& partitions);
  // Reads the manual partitions again. Returns true if they have changed.
  bool update_manual();

  // The last version given; 0: none.
  uint64_t version() const { return version_; }
  // All partitions of the subnet, in the order of partitions.conf.
  const Definitions& all() const { return all_; }
  // all() if ibpod-sm's own partitions were `own`.
  Definitions all_with(Definitions own) const;
  const Definitions& manual() const { return manual_; }
  // The P_Keys (15 bits) of the manual partitions, and the most that these take in partitions.conf,
  // in bytes.
  std::set<uint16_t> manual_pkeys() const;
  size_t manual_bytes() const;

  // The keys of all(), and of the default and the manual partitions alone.
  verify::DesiredKeys desired() const { return verify::DesiredKeys(all_); }
  verify::DesiredKeys unmanaged() const;

 private:
  engine::SubnetManager& subnet_manager_;
  uint64_t version_ = 0;
  engine::Partitions own_;
  Definitions manual_;
  Definitions all_;
};

}  // namespace ibpod::sm::controller
