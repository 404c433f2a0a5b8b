// What posture_of() looks at, one after the other. Each adds its findings, and counts.
#pragma once

#include "lib/base/seen_at.h"
#include "sm/health_checks/health_checks.h"

#include <string>
#include <vector>

namespace ibpod::sm {

// The subnet manager that ours is, and those beside it.
void examine_engine(const Standing& engine, Posture& posture);
void examine_cgroup(const Standing& engine, Posture& posture);
void examine_start(const Standing& engine, Posture& posture);
void examine_edit(const Standing& engine, Posture& posture);
void examine_rivals(const Evidence& evidence, Posture& posture);

void examine_default(const Evidence& evidence, const SmSettings& settings, Posture& posture);
void examine_partitions(const Evidence& evidence, const SmSettings& settings, Posture& posture);

void examine_keys(const SmSettings& settings, Posture& posture);
void examine_protection(const Evidence& evidence, const SmSettings& settings, Posture& posture);

void examine_leaves(const Evidence& evidence, const SmSettings& settings, Posture& posture);

// What ibpod-sm has promised, and what is in its way.
void examine_stuck(const Evidence& evidence, const std::vector<Stuck>& stuck, Posture& posture);
void examine_doubled(const std::vector<std::string>& nodes, Posture& posture);
void examine_declared(const DeclaredFaults& faults, Posture& posture);

// What could not be seen.
void examine_sight(const Evidence& evidence, Posture& posture);

// Nothing, where there are none.
void add(Posture& posture, Weakness weakness, size_t count, fabricapi::Finding finding);

// "1 port", "3 ports"
std::string counted(size_t count, const std::string& what);
// The first three: "a, b, c and 4 more". Of `names`, or of as many more as there are of them.
std::string some(const std::vector<std::string>& names, size_t count = 0);

}  // namespace ibpod::sm
