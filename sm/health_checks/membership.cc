#include "sm/health_checks/checks.h"

#include <algorithm>

namespace ibpod::sm::health_checks {
namespace {

using fabric::PartitionDefinition;

// Whether the default partition makes a full member of a port that nobody has named.
bool opens_to_all(const std::vector<PartitionDefinition>& definitions) {
  const fabric::EndPort caller{.guid = ib::kNoGuid};
  for (const PartitionDefinition& definition : definitions) {
    if (definition.pkey != fabric::kDefaultPKey) continue;
    const std::vector<ib::PKey> keys = keys_of({definition}, caller);
    if (std::find(keys.begin(), keys.end(), ib::kDefaultFull) != keys.end()) return true;
  }
  return false;
}

bool holds(const tables::ReadTable& table, ib::PKey key) {
  return std::find(table.keys.begin(), table.keys.end(), key) != table.keys.end();
}

bool has_both(const PartitionDefinition& definition) {
  return std::any_of(
      definition.members.begin(), definition.members.end(),
      [](const fabric::Member& member) { return member.membership == fabric::Membership::both; });
}

}  // namespace

void check_default_partition(const tables::FabricSnapshot& snapshot, const SmSettings& settings,
                             HealthChecks& checks) {
  const bool observed = settings.owner == SmOwner::observed;
  if (opens_to_all(snapshot.partitions)) {
    add(checks, Issue::default_rule, 1,
        {"default partition",
         "its rule makes every port a full member: any two ports reach each other by P_Key 0x7fff, "
         "whatever partitions their pods are in",
         observed ? "make all but the subnet manager's port limited members of it in the subnet "
                    "manager's own configuration, once no host needs the default partition to "
                    "reach another"
                  : "set defaultPartition.others to limited in ibpod-sm's configuration, once no "
                    "host needs the default partition to reach another"});
  }
  std::vector<std::string> full;
  fabric::WallTime oldest{};
  for (const auto& [guid, table] : snapshot.tables) {
    if (guid == snapshot.sm_port || !holds(table, ib::kDefaultFull)) continue;
    oldest = full.empty() ? table.seen : std::min(oldest, table.seen);
    full.push_back(tables::described(snapshot.topology, guid));
  }
  add(checks, Issue::default_full, full.size(),
      {"default partition",
       counted(full.size(), "port") + " beside the subnet manager's " +
           (full.size() == 1 ? "holds" : "hold") + " 0xffff: " + some(full) + seen_at(oldest) +
           ". A full member of the default partition reaches every port of the fabric, whatever "
           "partitions tenants are in",
       observed
           ? "make these ports limited members of the default partition in the subnet "
             "manager's own configuration: ibpod-sm only observes, and takes no key away"
           : "set defaultPartition.others to limited in ibpod-sm's configuration if it is not; "
             "then ibpod-sm takes the key away after its next look at all ports "
             "(look.scanSeconds). If the key comes back, somebody else writes tables: see the "
             "findings of m_key and of other subnet managers"});
}

void check_partitions(const tables::FabricSnapshot& snapshot, const SmSettings& settings,
                      HealthChecks& checks) {
  std::vector<std::string> both;
  for (const PartitionDefinition& definition : snapshot.partitions)
    if (!settings.allow_both && has_both(definition)) both.push_back(definition.name);
  add(checks, Issue::both, both.size(),
      {some(both),
       "has members of membership `both`, which OpenSM makes full where its option "
       "allow_both_pkeys is off: they reach limited members that they should not",
       settings.owner == SmOwner::ours
           ? "set opensm.allowBothPkeys to true in ibpod-sm's configuration and restart it, or "
             "make the members limited or full"
           : "set allow_both_pkeys TRUE in opensm.conf and restart OpenSM, or make the members "
             "limited or full"});
  std::vector<std::string> clashes;
  for (const auto& [guid, names] : tables::index0_clashes(snapshot.partitions, snapshot))
    clashes.push_back(tables::described(snapshot.topology, guid) + ": " + some(names));
  add(checks, Issue::index0, clashes.size(),
      {"index 0",
       "at " + counted(clashes.size(), "port") +
           " more than one partition claims index 0 of the P_Key table, and one of them does not "
           "get it: " +
           some(clashes) +
           ". Programs that use index 0 talk in a partition that they do not expect",
       "`ibpodctl partition update NAME --no-index0` for all but one of them"});
}

}  // namespace ibpod::sm::health_checks
