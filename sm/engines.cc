#include "sm/engines.h"

#include "sm/opensm/opensm_cgroup.h"
#include "sm/state_loss.h"
#include "sm/telemetry/ufm_telemetry.h"
#include "sm/ufm/ufm_client.h"
#include "sm/ufm/ufm_subnet_manager.h"

namespace ibpod::sm {
namespace {

using config::EngineKind;

Result<StartedEngine> start_opensm(const config::Config& config,
                                   engine::SubnetManager::OnChange changed) {
  opensm::OpenSmEngineSettings settings = config.opensm;
  settings.supervisor.separate = opensm::separate_cgroup;
  StartedEngine started;
  started.subnet_manager = TRY(opensm::OpenSm::start(std::move(settings), std::move(changed)));
  return started;
}

Result<StartedEngine> start_ufm(const config::UfmSettings& settings,
                                telemetry::Telemetry& telemetry,
                                engine::SubnetManager::OnChange changed) {
  auto client = std::make_unique<ufm::UfmClient>(
      settings.client,
      [&telemetry](std::string_view operation, std::optional<Code> failure, Duration took) {
        telemetry::UfmTelemetry(telemetry).called(operation, failure, took);
      });
  std::unique_ptr<ufm::UfmSubnetManager> engine =
      TRY(ufm::UfmSubnetManager::start(settings.engine, std::move(client), std::move(changed)));
  StartedEngine started;
  started.update_metrics = [&telemetry, raw = engine.get()] {
    const ufm::UfmCounts counts = raw->counts();
    telemetry::UfmTelemetry(telemetry).set_members({.widened = counts.widened,
                                                    .ignored = counts.ignored,
                                                    .foreign = counts.foreign,
                                                    .confined_vfs = counts.confined_vfs,
                                                    .unconfined_vfs = counts.unconfined_vfs});
  };
  started.subnet_manager = std::move(engine);
  return started;
}

StartedEngine start_passive(engine::SubnetManager::OnChange changed) {
  auto passive = std::make_unique<engine::PassiveSubnetManager>(std::move(changed));
  StartedEngine started;
  started.passive = passive.get();
  started.subnet_manager = std::move(passive);
  return started;
}

}  // namespace

Result<StartedEngine> start_engine(const config::Config& config, telemetry::Telemetry& telemetry,
                                   engine::SubnetManager::OnChange changed) {
  switch (config.engine) {
    case EngineKind::observe:
      return start_passive(std::move(changed));
    case EngineKind::ufm:
      return start_ufm(*config.ufm, telemetry, std::move(changed));
    case EngineKind::opensm:
      break;
  }
  return start_opensm(config, std::move(changed));
}

Status check_state_lost(const config::Config& config, state::Store& store, const Path& database) {
  switch (config.engine) {
    case EngineKind::observe:
      return ok();
    case EngineKind::ufm:
      return check_state_lost(store, database, config.ufm->engine);
    case EngineKind::opensm:
      break;
  }
  return check_state_lost(store, database, config.opensm);
}

diagnose::SmSettings health_check_settings(const config::Config& config) {
  diagnose::SmSettings settings;
  if (config.engine == EngineKind::observe) settings.owner = diagnose::SmOwner::observed;
  if (config.engine == EngineKind::ufm) settings.owner = diagnose::SmOwner::ufm;
  if (config.opensm.launcher.external) settings.owner = diagnose::SmOwner::external;
  if (settings.owner != diagnose::SmOwner::ours) return settings;
  const opensm::OpenSmSettings& opensm = config.opensm.launcher.opensm;
  settings.m_key = !opensm.keys.m_key.empty();
  settings.sm_key = !opensm.keys.sm_key.empty();
  settings.sa_key = !opensm.keys.sa_key.empty();
  settings.m_key_protection = opensm.m_key_protection;
  settings.allow_both = opensm.allow_both_pkeys;
  return settings;
}

bool starts_opensm(const config::Config& config) {
  return config.engine == EngineKind::opensm && !config.opensm.launcher.external;
}

}  // namespace ibpod::sm
