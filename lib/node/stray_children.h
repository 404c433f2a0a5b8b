// IPoIB children of ours on the host whose records are no more.
#pragma once

#include "lib/base/result.h"
#include "lib/node/kernel.h"
#include "lib/node/records.h"

#include <vector>

namespace ibpod::node {

// Those that no record speaks of (is_ours() in child.h): by index or queue pair (is_of()), whatever
// their names, which a pod may have taken from another record. While a record of a child cannot be
// read, those alone whose name or alias no record has: the others may be that one's.
Result<std::vector<Netdev>> stray_children(Kernel& kernel, const Records& records);

}  // namespace ibpod::node
