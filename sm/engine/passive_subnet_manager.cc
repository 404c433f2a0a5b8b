#include "sm/engine/passive_subnet_manager.h"

namespace ibpod::sm {

void Observe::saw_master(bool there) {
  {
    const std::lock_guard lock(mutex_);
    const Health health = there ? Health::serving : Health::gone;
    if (standing_.health == health) return;
    standing_.health = health;
    standing_.trouble = there ? ""
                              : "no subnet manager is master on the subnet: start the one that "
                                "owns its partitions";
  }
  changed_();
}

void Observe::want(uint64_t version, Partitions) {
  {
    const std::lock_guard lock(mutex_);
    if (version <= standing_.placed) return;
    standing_.placed = standing_.swept = version;
    if (standing_.health == Health::starting) standing_.health = Health::serving;
  }
  changed_();
}

Standing Observe::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

Status Observe::check(const std::vector<fabric::Partition>& partitions) const {
  for (const fabric::Partition& partition : partitions) TRY(fabric::check(partition));
  return ok();
}

}  // namespace ibpod::sm
