// Messages about partitions, and the values that they carry; as binding_messages.h.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/fabric.h"

namespace ibpod::fabricapi {

// As in a request: what only an answer has is neither written nor read.
v1::Partition to_message(const fabric::Partition& partition);
// invalid, too, for what fabric::check() refuses.
Result<fabric::Partition> read_partition(const v1::Partition& message);

// Whole, both ways: this is also how a partition is kept on disk.
v1::Partition to_message(const fabric::PartitionStatus& status);
Result<fabric::PartitionStatus> from_message(const v1::Partition& message);

v1::ListPartitionsResponse to_message(const ListPage<fabric::PartitionStatus>& listed);
Result<ListPage<fabric::PartitionStatus>> from_message(const v1::ListPartitionsResponse& message);

}  // namespace ibpod::fabricapi
