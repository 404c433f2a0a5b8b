#include "sm/tables/fabric_snapshot.h"

#include <algorithm>
#include <set>

namespace ibpod::sm {
namespace {

using Claims = std::map<ib::Guid, std::set<std::string>>;

bool speaks_of_groups(const fabric::Partition& partition) {
  return std::any_of(partition.members.begin(), partition.members.end(),
                     [](const fabric::Member& member) { return member.port.group().has_value(); });
}

void claim(const fabric::Partition& partition, const Evidence& evidence, Claims& claims) {
  for (const fabric::Member& member : partition.members)
    if (!member.port.group() && !member.keeps_index0)
      claims[member.port.guid()].insert(partition.name);
  if (!speaks_of_groups(partition)) return;
  for (const fabric::SeenPort& port : evidence.topology.ports())
    if (takes_index0(partition, end_port(evidence, port.guid)))
      claims[port.guid].insert(partition.name);
}

}  // namespace

const ReadTable* find(const ReadTables& tables, ib::Guid port) {
  const auto found = tables.find(port);
  return found == tables.end() ? nullptr : &found->second;
}

const ReadTable* heeded_leaf(const Evidence& evidence, ib::Guid port) {
  const fabric::SeenPort* seen = evidence.topology.find(port);
  const bool heeds =
      seen != nullptr && seen->leaf && seen->leaf->enforcement && seen->leaf->enforcement->strict();
  return heeds ? find(evidence.leaf_tables, port) : nullptr;
}

fabric::EndPort end_port(const Evidence& evidence, ib::Guid port) {
  fabric::EndPort end{.guid = port, .runs_sm = port == evidence.sm_port};
  if (const fabric::SeenPort* seen = evidence.topology.find(port)) end.node = seen->node;
  return end;
}

std::string described(const fabric::Topology& topology, ib::Guid port) {
  const fabric::SeenPort* seen = topology.find(port);
  return port.text() +
         (seen != nullptr && !seen->description.empty() ? " (\"" + seen->description + "\")" : "");
}

std::map<ib::Guid, std::vector<std::string>> index0_clashes(
    const std::vector<fabric::Partition>& partitions, const Evidence& evidence) {
  Claims claims;
  for (const fabric::Partition& partition : partitions)
    if (partition.index0 && partition.pkey != fabric::kDefaultPKey)
      claim(partition, evidence, claims);
  std::map<ib::Guid, std::vector<std::string>> clashes;
  for (const auto& [guid, names] : claims)
    if (names.size() > 1) clashes[guid].assign(names.begin(), names.end());
  return clashes;
}

}  // namespace ibpod::sm
