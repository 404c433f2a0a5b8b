// The port that the subnet manager runs on.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"

#include <optional>
#include <vector>

namespace ibpod::sm::opensm {

// The subnet manager's own port is a full member of the default partition, whose key OpenSM would
// in time lose where it had to leave index 0 (docs/opensm-notes.md#a-table-that-has-had-64-keys);
// and with it everybody's way to the subnet manager. A switch's or router's port OpenSM does not
// use.
Status check_own_port(const std::vector<fabric::PartitionDefinition>& definitions,
                      const std::optional<ib::Guid>& own);

}  // namespace ibpod::sm::opensm
