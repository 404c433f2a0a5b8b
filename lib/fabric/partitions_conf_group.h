// A multicast group of partitions.conf: mgid=GID,FLAG=VALUE ... to the end of its line.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf_syntax.h"

#include <array>
#include <cstdint>
#include <span>

namespace ibpod::fabric {

// `entries` start with mgid=GID and end with the line. The group has the partition's flags, all but
// TClass, where its own do not say otherwise; IP groups have its P_Key, mtu and rate.
Result<MulticastGroup> read_group(std::span<const Entry> entries,
                                  const PartitionDefinition& definition);

// The group that a partition has where it is for IPoIB (RFC 4391, section 4).
std::array<uint8_t, 16> broadcast_group(ib::PKey pkey);

}  // namespace ibpod::fabric
