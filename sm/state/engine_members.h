// The memberships of a port as OpenSM gets them: from its static memberships and its bindings.
#pragma once

#include "sm/state/records.h"

namespace ibpod::sm::state {

// For State: brings the engine members of the port, and of its partitions, in line with its static
// memberships and bindings. Bindings that are being released do not count. Returns false if they
// were the same.
bool update_engine_members(Records& records, ib::Guid guid, PortRecord& port);

}  // namespace ibpod::sm::state
