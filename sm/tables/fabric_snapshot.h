// Evidence: what is known of the subnet at one time, and what is wanted of it. Somebody else keeps
// these values: all of them outlive the call that is given them.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabric/end_port.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/topology.h"
#include "sm/tables/desired_keys.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::sm::tables {

struct ReadTable {
  ib::PKeyTable keys;
  fabric::WallTime seen{};
  fabric::Proof by = fabric::Proof::port;
  bool operator==(const ReadTable&) const = default;
};
using ReadTables = std::map<ib::Guid, ReadTable>;
// nullptr: it is not known.
const ReadTable* find(const ReadTables& tables, ib::Guid port);

struct FabricSnapshot {
  // Without ports: nobody has looked yet.
  const fabric::Topology& topology;
  // Of each port as last read. What is not here has not been read, or its reading counts no longer.
  const ReadTables& tables;
  // Of the switch port that an end port is connected to; by the GUID of the end port.
  const ReadTables& switch_tables;
  // All of the subnet, the default one and the administrator's among them.
  const std::vector<fabric::PartitionDefinition>& partitions;
  const DesiredKeys& desired;             // by these partitions
  ib::Guid sm_port = {};                  // on which the master subnet manager runs: SELF
  fabric::WallTime discovery_began = {};  // when the look at the subnet began that `topology` is of
};

// The port as partitions speak of it. Of one that was not seen: an adapter's.
fabric::EndPort end_port(const FabricSnapshot& snapshot, ib::Guid port);

// The table of its switch port, where that drops what it does not hold. nullptr: it does not, or
// one of the two is not known.
const ReadTable* enforcing_switch_table(const FabricSnapshot& snapshot, ib::Guid port);

// `00:02:c9:03:00:a1:b2:c3 ("node7 mlx5_0")`; without the node's description where there is none.
std::string described(const fabric::Topology& topology, ib::Guid port);

// The partitions that claim index 0 of a port's table, by their names in order; only of ports that
// more than one claims, of which OpenSM grants one. The default partition gives way to any other.
std::map<ib::Guid, std::vector<std::string>> index0_clashes(
    const std::vector<fabric::PartitionDefinition>& definitions, const FabricSnapshot& snapshot);

}  // namespace ibpod::sm::tables
