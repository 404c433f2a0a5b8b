// FabricSnapshot: the known and the desired state of the subnet at one time. It refers to values of
// the caller, which must outlive it.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/fabric/end_port.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/topology.h"
#include "sm/verify/desired_keys.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::sm::diagnose {

struct ReadTable {
  ib::PKeyTable keys;
  fabric::WallTime seen{};
  fabric::Proof by = fabric::Proof::port;
  bool operator==(const ReadTable&) const = default;
};
using ReadTables = std::map<ib::Guid, ReadTable>;
// nullptr if the table is not known.
const ReadTable* find(const ReadTables& tables, ib::Guid port);

struct FabricSnapshot {
  // Without ports if the subnet has not been scanned yet.
  const fabric::Topology& topology;
  // The last valid reading of each port.
  const ReadTables& tables;
  // The last valid reading of each connected switch port, by the GUID of the end port.
  const ReadTables& switch_tables;
  // All partitions of the subnet, including the default one and the administrator's.
  const std::vector<fabric::PartitionDefinition>& partitions;
  const verify::DesiredKeys& desired;     // of `partitions`
  ib::Guid sm_port = {};                  // of the master subnet manager, "SELF" in partitions.conf
  fabric::WallTime discovery_began = {};  // of the scan that found `topology`
  bool serves_vports = false;             // as of engine::Capabilities
};

// The port as partition definitions match it. An unknown port counts as an adapter's.
fabric::EndPort end_port(const FabricSnapshot& snapshot, ib::Guid port);

// The table of the port's switch port if that enforces partitions. nullptr: it does not, or this or
// the table is not known.
const ReadTable* enforcing_switch_table(const FabricSnapshot& snapshot, ib::Guid port);

// The ports whose index 0 more than one partition claims, with the sorted names of these
// partitions. OpenSM grants one of them. The default partition does not count.
std::map<ib::Guid, std::vector<std::string>> index0_clashes(
    const std::vector<fabric::PartitionDefinition>& definitions, const FabricSnapshot& snapshot);

}  // namespace ibpod::sm::diagnose
