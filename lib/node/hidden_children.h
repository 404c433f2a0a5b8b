// IPoIB children that are in a namespace of which no path is known.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/node/kernel.h"

namespace ibpod::node {

// True if an interface of the device in the host's namespace has an IPoIB child in another
// namespace: it would be a way to the port of the one who has the device next. It asks the kernel
// or, if that does not know (Kernel::ipoib_queue_pairs), looks into all namespaces; true also if it
// could not look into all. Such a child ends when the interface is made again.
Result<bool> has_hidden_children(Kernel& kernel, const ib::PciAddress& device, Deadline deadline);

}  // namespace ibpod::node
