#include "sm/verify/engine_progress.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

// The number of events after which the partitions in the tables are unknown.
uint64_t losses_in(const engine::EngineStatus& engine) {
  return engine.violations + engine.fail_opens + engine.losses;
}

}  // namespace

EngineProgress::Change EngineProgress::update(const engine::EngineStatus& status,
                                              const engine::Capabilities& capabilities, Time now) {
  Change change;
  capabilities_ = capabilities;
  health_ = status.health;
  if (status.placed < applied() || status.swept < swept()) ++rollbacks_;
  const uint64_t losses = losses_in(status);
  const uint64_t generation = losses + status.edits + rollbacks_;
  applied_.reset(generation);
  swept_.reset(generation);
  change.tables_lost = losses > losses_;
  losses_ = std::max(losses_, losses);
  change.has_swept = status.swept > swept();
  // Before the first sweep, tables may be another subnet manager's.
  change.first_sweep = status.swept > 0 && swept() == 0;
  applied_.record(status.placed, now);
  swept_.record(status.swept, now);
  return change;
}

ForcedVersions EngineProgress::at(std::string_view stamp) const {
  const size_t middle = std::min(stamp.find('/'), stamp.size());
  ForcedVersions versions{.applied = applied_.at(stamp.substr(0, middle))};
  if (middle < stamp.size()) versions.swept = swept_.at(stamp.substr(middle + 1));
  return versions;
}

bool EngineProgress::tables_prove_something() const {
  return (capabilities_.follows_sweeps ? swept() : applied()) != 0;
}

bool EngineProgress::may_repair() const {
  using engine::Health;
  return capabilities_.repairs_tables && (health_ == Health::serving || health_ == Health::gone);
}

}  // namespace ibpod::sm::verify
