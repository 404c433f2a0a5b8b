#include "sm/diagnose/health_checks.h"

#include "sm/diagnose/checks.h"

#include <algorithm>
#include <array>

namespace ibpod::sm::diagnose {

std::string_view name(Issue issue) {
  switch (issue) {
    case Issue::engine:
      return "engine";
    case Issue::not_discovered:
      return "not_looked";
    case Issue::other_manager:
      return "rival";
    case Issue::default_rule:
      return "default_rule";
    case Issue::default_full:
      return "default_full";
    case Issue::keys:
      return "keys";
    case Issue::m_key_shown:
      return "m_key_shown";
    case Issue::readable:
      return "readable";
    case Issue::not_enforced:
      return "not_enforced";
    case Issue::enforcement_unknown:
      return "enforcement_unknown";
    case Issue::both:
      return "both";
    case Issue::index0:
      return "index0";
    case Issue::full_table:
      return "full_table";
    case Issue::enforcement_lost:
      return "enforcement_lost";
    case Issue::duplicate:
      return "duplicate";
    case Issue::unseen:
      return "unseen";
    case Issue::unread:
      return "unread";
    case Issue::shared_limit:
      return "shared_limit";
    case Issue::start_refused:
      return "start_refused";
    case Issue::undone_edit:
      return "undone_edit";
    case Issue::declared:
      return "declared";
    case Issue::waiting:
      return "waiting";
    case Issue::duplicate_node:
      return "duplicate_node";
    case Issue::release:
      return "release";
    case Issue::no_right:
      return "no_right";
    case Issue::per_port_m_key:
      return "per_port_m_key";
    case Issue::no_port:
      return "no_port";
    case Issue::unread_setting:
      return "unread_setting";
    case Issue::foreign_member:
      return "foreign_member";
  }
  return "?";
}

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
