// engine_fault(): why no change of partitions can be applied now.
#pragma once

#include "lib/fabric/binding.h"
#include "sm/engine/subnet_manager.h"

namespace ibpod::sm::controller {

// Reason::none if changes can be applied.
fabric::Condition engine_fault(const engine::EngineStatus& status);

}  // namespace ibpod::sm::controller
