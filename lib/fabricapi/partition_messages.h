// Messages about partitions, and their values; as in binding_messages.h.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"

namespace ibpod::fabricapi {

// Converts a partition's own fields, for messages and for records of ibpod-sm's database. invalid
// for an unknown word or number; the caller checks the rest.
void write_spec(const fabric::Partition& partition, v1::Partition& message);
Result<fabric::Partition> parse_spec(const v1::Partition& message);

// As in a request: fields that only an answer has are neither written nor read.
v1::Partition to_message(const fabric::Partition& partition);
// Also invalid if fabric::check() refuses it.
Result<fabric::Partition> read_partition(const v1::Partition& message);

// Converts all fields, in both directions.
v1::Partition to_message(const fabric::PartitionStatus& status);
Result<fabric::PartitionStatus> from_message(const v1::Partition& message);

v1::ListPartitionsResponse to_message(const ListPage<fabric::PartitionStatus>& listed);
Result<ListPage<fabric::PartitionStatus>> from_message(const v1::ListPartitionsResponse& message);

}  // namespace ibpod::fabricapi
