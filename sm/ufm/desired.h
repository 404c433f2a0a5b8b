// DesiredPartitions: the members that UFM is to have in our partitions. Values without I/O.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "sm/pool/pkey_pool.h"

#include <map>
#include <vector>

namespace ibpod::sm::ufm {

// How a port is a member of a partition.
struct MemberValues {
  ib::Membership membership = ib::Membership::limited;
  bool index0 = false;
  bool operator==(const MemberValues&) const = default;
};

struct DesiredPartition {
  bool ip_over_ib = false;
  std::map<ib::Guid, MemberValues> members = {};
  bool operator==(const DesiredPartition&) const = default;
};

// By P_Key, bit 15 clear.
using DesiredPartitions = std::map<ib::PKey, DesiredPartition>;

// Leaves out the default partition: UFM has a definition of 0x7fff of its own, with the site's
// default membership, and ours is never written. If several entries name one port, the result is
// that of verify::DesiredKeys: the last one sets the membership, and each can claim index 0.
// invalid, with the partition's P_Key, for a definition that UFM cannot have: a group of ports, the
// membership `both`, a P_Key outside of `pkeys` or of two definitions.
Result<DesiredPartitions> desired_of(const std::vector<fabric::PartitionDefinition>& definitions,
                                     const pool::PKeyPool& pkeys);

// The member; nullptr if the partition is nullptr or does not have it.
const MemberValues* find_member(const DesiredPartition* partition, ib::Guid guid);

}  // namespace ibpod::sm::ufm
