// engine_fault(): why no change of partitions can be applied now.
#pragma once

#include "lib/fabric/binding.h"
#include "sm/opensm/subnet_manager.h"

namespace ibpod::sm::controller {

// Reason::none if changes can be applied.
fabric::Condition engine_fault(const opensm::EngineStatus& status);

}  // namespace ibpod::sm::controller
