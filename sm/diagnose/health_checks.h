// Security and health checks: faults of a fabric, above all those that let a node bypass its
// partitions; each with its consequence for tenants and its remedy. Pure functions.
#pragma once

#include "sm/diagnose/fabric_snapshot.h"
#include "sm/diagnose/manager_words.h"
#include "sm/engine/subnet_manager.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::diagnose {

// Settings of the subnet manager. A key is true if it differs from OpenSM's public default, and
// nullopt if another program has set it; the key itself is never here.
struct SmSettings {
  std::optional<bool> m_key, sm_key, sa_key;
  unsigned m_key_protection = 0;  // 0 to 3 (IBA 1.4, volume 1, 14.2.4.1)
  bool allow_both = true;         // OpenSM's allow_both_pkeys
  SmOwner owner = SmOwner::ours;
};

// A deletion that has waited long for ports that do not answer.
struct StuckDeletion {
  enum class Kind { partition, bindings, vports };
  Kind kind;
  std::string name;  // a partition that is being deleted, or a node with bindings on virtual ports
                     // of present adapters or on other ports
  std::vector<ib::Guid> ports;
};

// Errors in the file of declared partitions.
struct DeclaredFileFaults {
  bool declared = false;  // there is such a file
  std::vector<std::string> texts = {};
};

// Facts from ibpod-sm's own state.
struct RegistryFacts {
  std::vector<StuckDeletion> stuck = {};
  std::vector<std::string> duplicate_nodes = {};  // node names that two machines use
  DeclaredFileFaults declared = {};
};

// A closed set: also a label of metrics. Each comment says what is counted.
enum class Issue {
  engine,               // 1 while the subnet manager does not enforce the requested partitions
  not_discovered,       // 1 until the first scan of the subnet
  other_manager,        // other subnet managers than ours
  default_rule,         // 1 if the default partition makes every port a full member
  default_full,         // full members of it, except the subnet manager's port
  keys,                 // keys of m_key, sm_key and sa_key at their defaults, or not known
  m_key_shown,          // ports that show their M_Key in every answer
  readable,             // ports whose tables any node can read
  not_enforced,         // ports on a switch that does not enforce partitions
  enforcement_unknown,  // ports on a switch that may not enforce them
  both,                 // partitions with `both` members, which OpenSM would make full
  index0,               // ports at which two or more P_Keys request index 0
  full_table,           // times that a table had no free entry for a key
  enforcement_lost,     // times that OpenSM has disabled enforcement at a switch port
  duplicate,            // GUIDs of two ports
  unseen,               // requests without an answer
  unread,               // ports whose table is not known
  shared_limit,         // 1 while a memory limit of ibpod-sm may end the subnet manager
  start_refused,        // 1 while the running subnet manager could not be started again
  undone_edit,          // 1 while an edit of partitions.conf is undone and not corrected
  declared,             // entries of the declared file that are refused; 1 for the whole file
  waiting,              // ports for which deletions and released bindings have waited long
  duplicate_node,       // names of nodes that two machines use
  // Faults that an engine finds at its subnet manager (engine::EngineFinding).
  release,         // 1 if the subnet manager's release is too old, or not known
  no_right,        // calls that the subnet manager denies to ibpod-sm's user
  per_port_m_key,  // 1 if each port has an M_Key that only the subnet manager knows
  no_port,         // 1 if the subnet manager knows no port
  unread_setting,  // settings that the subnet manager does not show
  foreign_member,  // members of our partitions that another client has put there
  unwritten_pkey,  // P_Keys that are not written: another client's, or in no range any more
  other_ipoib,     // partitions with IPoIB although that is not desired, or without it
  widened,         // limited members that the subnet manager has made full
  unconfined_vf,   // VFs whose GUID the subnet manager accepts behind any port, despite the setting
};
std::string_view name(Issue issue);
inline constexpr Issue kLastIssue = Issue::unconfined_vf;

// One problem of the fabric, with its remedy.
struct Finding {
  std::string subject;
  std::string text;
  std::string remedy;
};

struct HealthChecks {
  std::vector<Finding> issues;
  std::map<Issue, size_t> counts;  // of every kind, even if 0
};

HealthChecks run_checks(const FabricSnapshot& snapshot, const engine::EngineStatus& engine,
                        const SmSettings& settings, const RegistryFacts& facts = {});

}  // namespace ibpod::sm::diagnose
