// other_partitions(): the partitions of UFM that are not ibpod-sm's. Their keys are in the tables,
// too.
#pragma once

#include "lib/fabric/partition_definition.h"
#include "sm/pool/pkey_pool.h"
#include "sm/ufm/ufm_api.h"

#include <map>
#include <vector>

namespace ibpod::sm::ufm {

// Those whose P_Key is in no range of `pkeys`, by P_Key, without the default partition. A member
// with an unknown membership counts as full, which is UFM's default.
std::vector<fabric::PartitionDefinition> other_partitions(
    const std::map<ib::PKey, UfmPartition>& partitions, const pool::PKeyPool& pkeys);

}  // namespace ibpod::sm::ufm
