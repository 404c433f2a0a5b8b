// Partitions, as ibpodctl shows them.
#pragma once

#include "lib/fabric/partition.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

std::string as_table(const std::vector<fabric::PartitionStatus>& partitions);
// One, with its members.
std::string as_text(const fabric::PartitionStatus& status);
json::Value as_json(const fabric::PartitionStatus& status);
json::Value as_json(const std::vector<fabric::PartitionStatus>& partitions);

}  // namespace ibpod::ctl
