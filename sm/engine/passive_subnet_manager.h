// PassiveSubnetManager: writes nothing. Another subnet manager, a switch's own or UFM, owns the
// tables. The desired partitions count as written and swept; only tables show what is enforced.
#pragma once

#include "sm/engine/subnet_manager.h"

#include <mutex>

namespace ibpod::sm::engine {

class PassiveSubnetManager final : public SubnetManager {
 public:
  explicit PassiveSubnetManager(OnChange changed) : on_change_(std::move(changed)) {}

  // Reports whether the subnet has a master. From any thread; calls OnChange in it.
  void saw_master(bool there);

  void apply(uint64_t version, Partitions partitions) override;
  EngineStatus status() const override;
  Capabilities capabilities() const override { return {}; }
  Status check(const std::vector<fabric::PartitionDefinition>& definitions) const override;
  std::vector<fabric::PartitionDefinition> manual_partitions() const override { return {}; }

 private:
  OnChange on_change_;
  mutable std::mutex mutex_;
  EngineStatus status_;
};

}  // namespace ibpod::sm::engine
