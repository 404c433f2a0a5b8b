// The name of a partition, as people, pods and OpenSM's partitions.conf use it.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string_view>

namespace ibpod::ib {

// OpenSM keeps this many bytes of a name.
inline constexpr size_t kMostPartitionName = 31;

// True for 1 to 31 letters, digits and "._-". OpenSM accepts more characters, but people and
// programs take those for syntax.
bool is_partition_name(std::string_view name);
// invalid, with the rule, for any other name.
Status check_partition_name(std::string_view name);

}  // namespace ibpod::ib
