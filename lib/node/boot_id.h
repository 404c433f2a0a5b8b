// Which boot of the machine this is. A record of another one speaks of nothing that is there.
#pragma once

#include "lib/base/result.h"

#include <string>

namespace ibpod::node {

// As the kernel makes it up at each boot (/proc/sys/kernel/random/boot_id).
Result<std::string> read_boot_id();

}  // namespace ibpod::node
