#include "sm/diagnose/checks.h"

#include <algorithm>

namespace ibpod::sm::diagnose {
namespace {

using fabric::PartitionDefinition;

// True if the default partition makes a port that no partition names a full member.
bool opens_to_all(const std::vector<PartitionDefinition>& definitions) {
  const fabric::EndPort caller{.guid = ib::kNoGuid};
  for (const PartitionDefinition& definition : definitions) {
    if (definition.pkey != fabric::kDefaultPKey) continue;
    const std::vector<ib::PKey> keys = keys_of({definition}, caller);
    if (std::find(keys.begin(), keys.end(), ib::kDefaultFull) != keys.end()) return true;
  }
  return false;
}

bool holds(const ReadTable& table, ib::PKey key) {
  return std::find(table.keys.begin(), table.keys.end(), key) != table.keys.end();
}

// A subnet manager that makes all switches full members does so by design: they are no tenants.
bool is_full_by_design(const FabricSnapshot& snapshot, ib::Guid guid) {
  const fabric::EndPort port = end_port(snapshot, guid);
  const std::vector<ib::PKey> keys = snapshot.desired.of(port).keys;
  return port.node == mad::NodeType::switch_node &&
         std::find(keys.begin(), keys.end(), ib::kDefaultFull) != keys.end();
}

bool has_both(const PartitionDefinition& definition) {
  return std::any_of(
      definition.members.begin(), definition.members.end(),
      [](const fabric::Member& member) { return member.membership == fabric::Membership::both; });
}

}  // namespace

void check_default_partition(const FabricSnapshot& snapshot, const SmSettings& settings,
                             HealthChecks& checks) {
  const ManagerWords& words = words_of(settings.owner);
  // One rule is one finding: the engine may have found it at its subnet manager.
  if (checks.counts[Issue::default_rule] == 0 && opens_to_all(snapshot.partitions)) {
    add(checks, Issue::default_rule, 1,
        {"default partition",
         "its rule makes every port a full member: any two ports reach each other by P_Key 0x7fff, "
         "whatever partitions their pods are in",
         std::string(words.default_rule)});
  }
  std::vector<std::string> full;
  fabric::WallTime oldest{};
  for (const auto& [guid, table] : snapshot.tables) {
    if (guid == snapshot.sm_port || !holds(table, ib::kDefaultFull)) continue;
    if (is_full_by_design(snapshot, guid)) continue;
    oldest = full.empty() ? table.seen : std::min(oldest, table.seen);
    full.push_back(described(snapshot.topology, guid));
  }
  add(checks, Issue::default_full, full.size(),
      {"default partition",
       counted(full.size(), "port") + " other than the subnet manager's " +
           (full.size() == 1 ? "holds" : "hold") + " 0xffff: " + some(full) + seen_at(oldest) +
           ". A full member of the default partition reaches every port of the fabric, whatever "
           "partitions the tenants are in",
       std::string(words.default_full)});
}

void check_partitions(const FabricSnapshot& snapshot, const SmSettings& settings,
                      HealthChecks& checks) {
  std::vector<std::string> both;
  for (const PartitionDefinition& definition : snapshot.partitions)
    if (!settings.allow_both && has_both(definition)) both.push_back(definition.name);
  add(checks, Issue::both, both.size(),
      {some(both),
       "has members with membership `both`, which OpenSM makes full while its option "
       "allow_both_pkeys is off: they reach limited members that they should not reach",
       std::string(words_of(settings.owner).both)});
  std::vector<std::string> clashes;
  for (const auto& [guid, names] : index0_clashes(snapshot.partitions, snapshot))
    clashes.push_back(described(snapshot.topology, guid) + ": " + some(names));
  add(checks, Issue::index0, clashes.size(),
      {"index 0",
       "at " + counted(clashes.size(), "port") +
           " two or more partitions request index 0 of the P_Key table, and only one gets it: " +
           some(clashes) + ". Programs that use index 0 communicate in an unexpected partition",
       "run `ibpodctl partition update NAME --no-index0` for all but one of them"});
}

}  // namespace ibpod::sm::diagnose
