// PublishedVfPorts: which VF is behind which PF, given to a subnet manager that can use it.
#pragma once

#include "sm/bindings/registries.h"
#include "sm/engine/subnet_manager.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ibpod::sm::controller {

class PublishedVfPorts {
 public:
  // Both outlive it.
  PublishedVfPorts(engine::SubnetManager& subnet_manager, const bindings::Registries& registry)
      : subnet_manager_(subnet_manager), registry_(registry) {}

  // Gives the VFs of all bindings to the subnet manager, if they have changed since the last call
  // and Capabilities::confines_vfs. To be called when all changes are on disk: a VF must not leave
  // before its binding has.
  void publish();

 private:
  engine::SubnetManager& subnet_manager_;
  const bindings::Registries& registry_;
  std::optional<uint64_t> changes_;  // of the journal, at the last call
  std::optional<std::vector<engine::VfPort>> ports_;
};

}  // namespace ibpod::sm::controller
