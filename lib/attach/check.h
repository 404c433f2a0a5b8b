// CHECK: whether an attachment still is what ADD made of it.
#pragma once

#include "lib/attach/context.h"

namespace ibpod::attach {

// Looks at the record, the interface, its GUID, the RDMA device, the partition and the addresses of
// prevResult, then asks IPAM. The first thing that is not as it was is the error, reported as 106.
Status check(const Context& context, const Order& order);

}  // namespace ibpod::attach
