// The partitions that a network's configuration names.
#pragma once

#include "lib/attach/keys.h"
#include "lib/node/record.h"

#include <vector>

namespace ibpod::attach {

// One attachment's at the most.
inline constexpr size_t kMostPartitions = 32;

// `partition`: a name; `partitions`: names, or objects with name and membership, the first one's
// key for IPoIB; args.cni.partition: a name that the pod's author asks for, where the network
// leaves it to him. invalid where both say something and differ, or where `pkey` does as well:
// which one is meant?
Result<std::vector<node::PartitionRequest>> read_partitions(Keys& keys);

}  // namespace ibpod::attach
