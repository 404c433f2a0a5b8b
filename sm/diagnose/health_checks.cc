#include "sm/diagnose/health_checks.h"

#include "sm/diagnose/checks.h"

#include <algorithm>
#include <array>

namespace ibpod::sm::diagnose {

namespace {

// In the order of the enum.
constexpr auto kNames = std::to_array<std::string_view>(
    {"engine",         "not_looked",  "rival",          "default_rule",     "default_full",
     "keys",           "m_key_shown", "readable",       "not_enforced",     "enforcement_unknown",
     "both",           "index0",      "full_table",     "enforcement_lost", "duplicate",
     "unseen",         "unread",      "shared_limit",   "start_refused",    "undone_edit",
     "declared",       "waiting",     "duplicate_node", "release",          "no_right",
     "per_port_m_key", "no_port",     "unread_setting", "foreign_member",   "unwritten_pkey",
     "other_ipoib",    "widened",     "unconfined_vf"});
static_assert(kNames.size() == static_cast<size_t>(kLastIssue) + 1);

}  // namespace

std::string_view name(Issue issue) { return kNames.at(static_cast<size_t>(issue)); }

HealthChecks run_checks(const FabricSnapshot& snapshot, const engine::EngineStatus& engine,
                        const SmSettings& settings, const RegistryFacts& facts) {
  HealthChecks checks;
  for (int each = 0; each <= static_cast<int>(kLastIssue); ++each)
    checks.counts[static_cast<Issue>(each)] = 0;
  check_engine(engine, settings, checks);
  check_cgroup(engine, checks);
  check_start(engine, checks);
  check_manual_edit(engine, checks);
  check_declared_file(facts.declared, checks);
  check_other_managers(snapshot, settings, checks);
  check_engine_findings(engine, checks);
  check_default_partition(snapshot, settings, checks);
  check_keys(settings, checks);
  check_m_key_protection(snapshot, settings, checks);
  check_switch_enforcement(snapshot, settings, checks);
  check_partitions(snapshot, settings, checks);
  check_stuck(snapshot, facts.stuck, checks);
  check_duplicate_nodes(facts.duplicate_nodes, checks);
  check_unread(snapshot, checks);
  return checks;
}

void add(HealthChecks& checks, Issue issue, size_t count, Finding finding) {
  if (count == 0) return;
  checks.counts[issue] += count;
  checks.issues.push_back(std::move(finding));
}

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string some(const std::vector<std::string>& names, size_t count) {
  const size_t shown = std::min<size_t>(names.size(), 3);
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  const size_t more = std::max(count, names.size()) - shown;
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text;
}

}  // namespace ibpod::sm::diagnose
