// The checks of run_checks(). Each adds its findings and counts.
#pragma once

#include "lib/base/clock.h"
#include "sm/diagnose/health_checks.h"

#include <string>
#include <vector>

namespace ibpod::sm::diagnose {

// The health of our subnet manager, and other subnet managers.
void check_engine(const engine::EngineStatus& engine, const SmSettings& settings,
                  HealthChecks& checks);
void check_cgroup(const engine::EngineStatus& engine, HealthChecks& checks);
void check_start(const engine::EngineStatus& engine, HealthChecks& checks);
void check_manual_edit(const engine::EngineStatus& engine, HealthChecks& checks);
void check_engine_findings(const engine::EngineStatus& engine, HealthChecks& checks);
void check_other_managers(const FabricSnapshot& snapshot, const SmSettings& settings,
                          HealthChecks& checks);

void check_default_partition(const FabricSnapshot& snapshot, const SmSettings& settings,
                             HealthChecks& checks);
void check_partitions(const FabricSnapshot& snapshot, const SmSettings& settings,
                      HealthChecks& checks);

void check_keys(const SmSettings& settings, HealthChecks& checks);
void check_m_key_protection(const FabricSnapshot& snapshot, const SmSettings& settings,
                            HealthChecks& checks);

void check_switch_enforcement(const FabricSnapshot& snapshot, const SmSettings& settings,
                              HealthChecks& checks);

// Deletions, nodes and declared partitions in ibpod-sm's own state.
void check_stuck(const FabricSnapshot& snapshot, const std::vector<StuckDeletion>& stuck,
                 HealthChecks& checks);
void check_duplicate_nodes(const std::vector<std::string>& nodes, HealthChecks& checks);
void check_declared_file(const DeclaredFileFaults& faults, HealthChecks& checks);

// Ports and tables that the scan could not read.
void check_unread(const FabricSnapshot& snapshot, HealthChecks& checks);

// Adds the finding unless `count` is 0.
void add(HealthChecks& checks, Issue issue, size_t count, Finding finding);

// "1 port", "3 ports"
std::string counted(size_t count, const std::string& what);
// The first three names: "a, b, c and 4 more". If `count` is greater than the number of names, it
// is the total.
std::string some(const std::vector<std::string>& names, size_t count = 0);

}  // namespace ibpod::sm::diagnose
