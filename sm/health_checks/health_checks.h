// Posture: what of a fabric lets somebody get around its partitions, and what else is wrong with
// it; each with what it means for tenants, and what to do. Pure.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/engine/subnet_manager.h"
#include "sm/tables/fabric_snapshot.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::health_checks {

// Whose the subnet manager's configuration is: what has to be changed to set it otherwise.
enum class SmOwner {
  ours,      // ibpod-sm writes opensm.conf
  external,  // somebody else does, and ibpod-sm only partitions.conf
  observed   // ibpod-sm writes nothing
};

// How the subnet manager is set. Whether a key is one of its own and not the one that everybody
// knows; never the key. Nothing: it is not known, as somebody else has set it.
struct SmSettings {
  std::optional<bool> m_key, sm_key, sa_key;
  unsigned m_key_protection = 0;  // 0 to 3 (IBA 1.4, volume 1, 14.2.4.1)
  bool allow_both = true;         // OpenSM's allow_both_pkeys
  SmOwner owner = SmOwner::ours;
};

// What has waited for long, for ports that do not answer.
struct StuckDeletion {
  enum class Kind { partition, bindings, vports };
  Kind kind;
  std::string name;  // of the partition that is being deleted, or the node whose bindings are: on
                     // virtual ports of adapters that are on the subnet, or on others
  std::vector<ib::Guid> ports;
};

// What of the declared partitions' file is not so.
struct DeclaredFileFaults {
  bool declared = false;  // there is such a file
  std::vector<std::string> texts = {};
};

// What ibpod-sm itself has, beside the subnet.
struct RegistryFacts {
  std::vector<StuckDeletion> stuck = {};
  std::vector<std::string> duplicate_nodes = {};  // nodes for which two machines speak
  DeclaredFileFaults declared = {};
};

// A closed set: a label of metrics. What is counted stands behind it.
enum class Issue {
  engine,               // 1 while the subnet manager does not enforce what is wanted
  not_discovered,       // 1 until the subnet has been seen
  other_manager,        // subnet managers beside ours
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
  undone_edit,          // 1 while an edit of partitions.conf is undone, and not corrected
  declared,             // entries of the declared file that are refused; 1 for the whole file
  waiting,              // ports that deletions and released bindings have waited for long for
  duplicate_node,       // names of nodes that two machines have
};
std::string_view name(Issue weakness);
inline constexpr Issue kLastIssue = Issue::duplicate_node;

struct HealthChecks {
  std::vector<fabricapi::Finding> issues;
  std::map<Issue, size_t> counts;  // of each, 0 too
};

HealthChecks run_checks(const tables::FabricSnapshot& snapshot, const engine::EngineStatus& engine,
                        const SmSettings& settings, const RegistryFacts& promises = {});

}  // namespace ibpod::sm::health_checks
