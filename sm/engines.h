// StartedEngine: the engine that the configuration names, with what depends on the kind of engine.
#pragma once

#include "sm/config/config.h"
#include "sm/diagnose/health_checks.h"
#include "sm/engine/passive_subnet_manager.h"
#include "sm/engine/subnet_manager.h"
#include "sm/state/store.h"
#include "sm/telemetry/telemetry.h"

#include <functional>
#include <memory>

namespace ibpod::sm {

struct StartedEngine {
  std::unique_ptr<engine::SubnetManager> subnet_manager;
  // subnet_manager, if it is passive: it has to be told whether the subnet has a master.
  engine::PassiveSubnetManager* passive = nullptr;
  // Sets the metrics that only this engine has. Call it while subnet_manager exists.
  std::function<void()> update_metrics = [] {};
};

// `telemetry` must outlive the engine. `changed`: see engine::SubnetManager::OnChange.
Result<StartedEngine> start_engine(const config::Config& config, telemetry::Telemetry& telemetry,
                                   engine::SubnetManager::OnChange changed);

// invalid, with the remedy, if the database was lost while what the engine was given is still there
// (sm/state_loss.h). `database`: the store's file.
Status check_state_lost(const config::Config& config, state::Store& store, const Path& database);

// The settings of the subnet manager, for health checks.
diagnose::SmSettings health_check_settings(const config::Config& config);

// ibpod-sm starts OpenSM, and chooses its port.
bool starts_opensm(const config::Config& config);

}  // namespace ibpod::sm
