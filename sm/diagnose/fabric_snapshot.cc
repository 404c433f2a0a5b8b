#include "sm/diagnose/fabric_snapshot.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::diagnose {
namespace {

using Claims = std::map<ib::Guid, std::set<std::string>>;

bool names_groups(const fabric::PartitionDefinition& definition) {
  return std::any_of(definition.members.begin(), definition.members.end(),
                     [](const fabric::Member& member) { return member.port.group().has_value(); });
}

void claim(const fabric::PartitionDefinition& definition, const FabricSnapshot& snapshot,
           Claims& claims) {
  for (const fabric::Member& member : definition.members)
    if (!member.port.group() && !member.skip_index0)
      claims[member.port.guid()].insert(definition.name);
  if (!names_groups(definition)) return;
  for (const fabric::Port& port : snapshot.topology.ports())
    if (takes_index0(definition, end_port(snapshot, port.guid)))
      claims[port.guid].insert(definition.name);
}

}  // namespace

const ReadTable* find(const ReadTables& tables, ib::Guid port) {
  const auto found = tables.find(port);
  return found == tables.end() ? nullptr : &found->second;
}

const ReadTable* enforcing_switch_table(const FabricSnapshot& snapshot, ib::Guid port) {
  const fabric::Port* seen = snapshot.topology.find(port);
  const bool enforces = seen != nullptr && seen->switch_port && seen->switch_port->enforcement &&
                        seen->switch_port->enforcement->strict();
  return enforces ? find(snapshot.switch_tables, port) : nullptr;
}

fabric::EndPort end_port(const FabricSnapshot& snapshot, ib::Guid port) {
  fabric::EndPort end{.guid = port, .runs_sm = port == snapshot.sm_port};
  if (const fabric::Port* seen = snapshot.topology.find(port)) end.node = seen->node;
  return end;
}

std::map<ib::Guid, std::vector<std::string>> index0_clashes(
    const std::vector<fabric::PartitionDefinition>& definitions, const FabricSnapshot& snapshot) {
  Claims claims;
  for (const fabric::PartitionDefinition& definition : definitions)
    if (definition.index0 && definition.pkey != fabric::kDefaultPKey)
      claim(definition, snapshot, claims);
  std::map<ib::Guid, std::vector<std::string>> clashes;
  for (const auto& [guid, names] : claims)
    if (names.size() > 1) clashes[guid].assign(names.begin(), names.end());
  return clashes;
}

}  // namespace ibpod::sm::diagnose
