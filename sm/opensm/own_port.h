// The subnet manager's own port.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"

#include <optional>
#include <vector>

namespace ibpod::sm::opensm {

// invalid if the definitions move the default partition's key from index 0 of the subnet manager's
// port: OpenSM would in time lose the key (docs/opensm-notes.md#a-table-that-has-had-64-keys), and
// all ports their way to the subnet manager. OpenSM does not use ports of switches and routers.
Status check_own_port(const std::vector<fabric::PartitionDefinition>& definitions,
                      const std::optional<ib::Guid>& own);

}  // namespace ibpod::sm::opensm
