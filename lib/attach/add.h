// ADD: a device goes into a pod.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/result.h"

namespace ibpod::attach {

// Claims the device, writes the record, gives the pod what is ordered, waits for the partition,
// asks IPAM for addresses, sets and announces them. Whatever fails is undone by release(); what
// cannot be undone now stays recorded, and the error says so.
Result<cni::AddResult> add(const Context& context, const Order& order);

}  // namespace ibpod::attach
