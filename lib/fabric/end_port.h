// EndPort: a port that has a P_Key table of its own, and the keys that partitions put into it.
#pragma once

#include "lib/fabric/partition_definition.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "lib/mad/node_info.h"

#include <vector>

namespace ibpod::fabric {

struct EndPort {
  ib::Guid guid;
  mad::NodeType node = mad::NodeType::channel_adapter;
  bool runs_sm = false;  // OpenSM is bound to it: SELF
};

// All 16 bits of each key, in the order of the partitions; of `both` the limited one first. At
// which index a key is, OpenSM decides (osm_pkey_mgr.c), where index0 does not. In the default
// partition is every port, whether an entry names it or not: limited, and the SM's own full.
std::vector<ib::PKey> keys_of(const std::vector<PartitionDefinition>& definitions,
                              const EndPort& port);
// True if the partition's key is for index 0 of the port: if the partition asks for that in a
// definition that names the port, or a group of it (osm_prtn.c, osm_prtn_add_port).
bool takes_index0(const PartitionDefinition& definition, const EndPort& port);

}  // namespace ibpod::fabric
