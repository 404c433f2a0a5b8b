// Observe: an engine that writes nothing. Somebody else, a switch's own subnet manager or UFM, owns
// the tables; what is wanted counts as placed and swept, and tables alone tell what is enforced.
#pragma once

#include "sm/engine/subnet_manager.h"

#include <mutex>

namespace ibpod::sm {

class Observe final : public Engine {
 public:
  explicit Observe(Changed changed) : changed_(std::move(changed)) {}

  // What has been seen on the subnet. From any thread; rings on it.
  void saw_master(bool there);

  void want(uint64_t version, Partitions partitions) override;
  Standing standing() const override;
  bool writes() const override { return false; }
  Status check(const std::vector<fabric::Partition>& partitions) const override;
  std::vector<fabric::Partition> administrators() const override { return {}; }

 private:
  Changed changed_;
  mutable std::mutex mutex_;
  Standing standing_;
};

}  // namespace ibpod::sm
