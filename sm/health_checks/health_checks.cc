#include "sm/health_checks/health_checks.h"

#include "sm/health_checks/checks.h"

#include <algorithm>
#include <array>

namespace ibpod::sm {

std::string_view name(Weakness weakness) {
  switch (weakness) {
    case Weakness::engine:
      return "engine";
    case Weakness::not_looked:
      return "not_looked";
    case Weakness::rival:
      return "rival";
    case Weakness::default_rule:
      return "default_rule";
    case Weakness::default_full:
      return "default_full";
    case Weakness::keys:
      return "keys";
    case Weakness::m_key_shown:
      return "m_key_shown";
    case Weakness::readable:
      return "readable";
    case Weakness::not_enforced:
      return "not_enforced";
    case Weakness::enforcement_unknown:
      return "enforcement_unknown";
    case Weakness::both:
      return "both";
    case Weakness::index0:
      return "index0";
    case Weakness::full_table:
      return "full_table";
    case Weakness::enforcement_lost:
      return "enforcement_lost";
    case Weakness::duplicate:
      return "duplicate";
    case Weakness::unseen:
      return "unseen";
    case Weakness::unread:
      return "unread";
    case Weakness::shared_limit:
      return "shared_limit";
    case Weakness::start_refused:
      return "start_refused";
    case Weakness::undone_edit:
      return "undone_edit";
    case Weakness::declared:
      return "declared";
    case Weakness::waiting:
      return "waiting";
    case Weakness::duplicate_node:
      return "duplicate_node";
  }
  return "?";
}

Posture posture_of(const Evidence& evidence, const Standing& engine, const SmSettings& settings,
                   const Promises& promises) {
  Posture posture;
  for (int each = 0; each <= static_cast<int>(kLastWeakness); ++each)
    posture.counts[static_cast<Weakness>(each)] = 0;
  examine_engine(engine, posture);
  examine_cgroup(engine, posture);
  examine_start(engine, posture);
  examine_edit(engine, posture);
  examine_declared(promises.declared, posture);
  examine_rivals(evidence, posture);
  examine_default(evidence, settings, posture);
  examine_keys(settings, posture);
  examine_protection(evidence, settings, posture);
  examine_leaves(evidence, settings, posture);
  examine_partitions(evidence, settings, posture);
  examine_stuck(evidence, promises.stuck, posture);
  examine_doubled(promises.doubled, posture);
  examine_sight(evidence, posture);
  return posture;
}

void add(Posture& posture, Weakness weakness, size_t count, fabricapi::Finding finding) {
  if (count == 0) return;
  posture.counts[weakness] += count;
  posture.findings.push_back(std::move(finding));
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

}  // namespace ibpod::sm
