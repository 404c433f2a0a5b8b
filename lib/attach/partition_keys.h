// The partitions that a network's configuration names.
#pragma once

#include "lib/attach/keys.h"
#include "lib/node/record.h"

#include <vector>

namespace ibpod::attach {

// One attachment's at the most.
inline constexpr size_t kMostPartitions = 32;

// `partition`: a name; `partitions`: names, or objects with name and membership, the first one's
// key for IPoIB; args.cni.partition: a name that the pod's author asks for, if the network leaves
// it open. invalid if both are set and differ, or if `pkey` is set as well: it is not clear which
// one is meant.
Result<std::vector<node::PartitionRequest>> read_partitions(Keys& keys);

}  // namespace ibpod::attach
