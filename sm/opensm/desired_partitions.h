// DesiredPartitions: the newest version that the engine was given. Thread-safe.
#pragma once

#include "lib/fabric/partition_definition.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ibpod::sm::opensm {

class DesiredPartitions {
 public:
  struct Version {
    uint64_t version = 0;  // 0: none was given
    std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions;
  };

  // False if the version is not above the last one; then it is ignored.
  bool set(Version desired) {
    const std::lock_guard lock(mutex_);
    if (desired.version <= newest_.version) return false;
    newest_ = std::move(desired);
    return true;
  }
  Version newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

 private:
  mutable std::mutex mutex_;
  Version newest_;
};

}  // namespace ibpod::sm::opensm
