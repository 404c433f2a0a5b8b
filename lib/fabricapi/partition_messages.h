// Messages about partitions, and the values that they carry; as binding_messages.h.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/fabric.h"

namespace ibpod::fabricapi {

// The codec of a partition's own fields, of a message on the wire and of a record of ibpod-sm's
// database. invalid for a word or number of no closed set; the rest is for the caller to check.
void write_spec(const fabric::Partition& partition, v1::Partition& message);
Result<fabric::Partition> parse_spec(const v1::Partition& message);

// As in a request: what only an answer has is neither written nor read.
v1::Partition to_message(const fabric::Partition& partition);
// invalid, too, for what fabric::check() refuses.
Result<fabric::Partition> read_partition(const v1::Partition& message);

// Whole, both ways.
v1::Partition to_message(const fabric::PartitionStatus& status);
Result<fabric::PartitionStatus> from_message(const v1::Partition& message);

v1::ListPartitionsResponse to_message(const ListPage<fabric::PartitionStatus>& listed);
Result<ListPage<fabric::PartitionStatus>> from_message(const v1::ListPartitionsResponse& message);

}  // namespace ibpod::fabricapi
