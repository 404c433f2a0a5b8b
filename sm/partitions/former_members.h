// Former static members of partitions: ports whose tables may still hold the key.
#pragma once

#include "sm/state/journal.h"

namespace ibpod::sm::partitions {

// Records that the port's table no longer holds the partition's key. Call Journal::refresh()
// afterwards: the port may have to be removed.
void note_left(state::Journal& journal, state::PartitionRecord& record, ib::Guid guid);
// note_left() for each partition that the port is a former member of and that accepts this proof.
void note_left_all(state::Journal& journal, ib::Guid guid, fabric::Proof proof);
// Removes a partition that is being deleted, unless it still waits for a sweep or a port.
void remove_if_left(state::Journal& journal, state::PartitionRecord& record);

}  // namespace ibpod::sm::partitions
