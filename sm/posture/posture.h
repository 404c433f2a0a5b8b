// Posture: what of a fabric lets somebody get around its partitions, and what else is wrong with
// it; each with what it means for tenants, and what to do. Pure.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/engine/engine.h"
#include "sm/tables/evidence.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ibpod::sm {

// How the subnet manager is set. Whether a key is one of its own and not the one that everybody
// knows; never the key. Nothing: it is not known, as somebody else has set it.
struct SmSettings {
  std::optional<bool> m_key, sm_key, sa_key;
  unsigned m_key_protection = 0;  // 0 to 3 (IBA 1.4, volume 1, 14.2.4.1)
  bool allow_both = true;         // OpenSM's allow_both_pkeys
};

// A closed set: a label of metrics. What is counted stands behind it.
enum class Weakness {
  engine,               // 1 while the subnet manager does not enforce what is wanted
  not_looked,           // 1 until the subnet has been seen
  rival,                // subnet managers beside ours
  default_rule,         // 1 where the default partition makes everybody a full member
  default_full,         // ports beside the subnet manager's that are full members of it
  keys,                 // of m_key, sm_key, sa_key: those at their defaults, or not known
  m_key_shown,          // ports that show everybody their M_Key
  readable,             // ports that let everybody read what they hold
  not_enforced,         // ports whose switch lets everything pass
  enforcement_unknown,  // ports of whose switch that is not known
  both,                 // partitions with members of both kinds, which OpenSM would make full
  index0,               // ports at which more than one P_Key is to be at index 0
  full_table,           // times that a key found no room
  enforcement_lost,     // times that OpenSM has switched a switch port's enforcement off
  duplicate,            // GUIDs that two ports have
  unseen,               // questions that nobody answered
  unread,               // ports whose table is not known
  shared_limit,         // 1 while a memory limit of ibpod-sm's may end the subnet manager
  start_refused,        // 1 while the subnet manager, which runs, could not be started again
};
std::string_view name(Weakness weakness);
inline constexpr Weakness kLastWeakness = Weakness::start_refused;

struct Posture {
  std::vector<fabricapi::Finding> findings;
  std::map<Weakness, size_t> counts;  // of each, 0 too
};

Posture posture_of(const Evidence& evidence, const Standing& engine, const SmSettings& settings);

}  // namespace ibpod::sm
