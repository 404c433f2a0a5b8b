// What an attachment asks of its node before it touches any device.
#pragma once

#include "lib/attach/context.h"

namespace ibpod::attach {

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, saying how to get there.
Status check_isolation(const Context& context);

// Whether it is the namespace that this process runs in, the host's: no pod's.
Result<bool> is_own_namespace(const Context& context, const node::Namespace& where);

}  // namespace ibpod::attach
