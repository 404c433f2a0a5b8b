// What a partition is called: by people, by pods and in OpenSM's partitions.conf.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string_view>

namespace ibpod::ib {

// What OpenSM keeps of it.
inline constexpr size_t kMostPartitionName = 31;

// One to 31 letters, digits and "._-"; what else OpenSM takes in a name, people and programs take
// for syntax.
bool is_partition_name(std::string_view name);
// invalid, with what is right.
Status check_partition_name(std::string_view name);

}  // namespace ibpod::ib
