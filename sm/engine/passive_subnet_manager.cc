#include "sm/engine/passive_subnet_manager.h"

namespace ibpod::sm::engine {

void PassiveSubnetManager::saw_master(bool there) {
  {
    const std::lock_guard lock(mutex_);
    const Health health = there ? Health::serving : Health::gone;
    if (status_.health == health) return;
    status_.health = health;
    status_.trouble = there ? ""
                            : "no subnet manager is master on the subnet: start the one that "
                              "owns its partitions";
  }
  on_change_();
}

void PassiveSubnetManager::apply(uint64_t version, Partitions) {
  {
    const std::lock_guard lock(mutex_);
    if (version <= status_.placed) return;
    status_.placed = status_.swept = version;
    if (status_.health == Health::starting) status_.health = Health::serving;
  }
  on_change_();
}

EngineStatus PassiveSubnetManager::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Status PassiveSubnetManager::check(
    const std::vector<fabric::PartitionDefinition>& definitions) const {
  for (const fabric::PartitionDefinition& definition : definitions) TRY(fabric::check(definition));
  return ok();
}

}  // namespace ibpod::sm::engine
