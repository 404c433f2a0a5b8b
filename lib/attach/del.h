// DEL: a pod loses its interface.
#pragma once

#include "lib/attach/context.h"

#include <string>

namespace ibpod::attach {

// Releases every attachment recorded for this container and interface, whatever the call still
// knows of it: works twice, without a namespace, after a reboot. Without a record only what is in
// this call's own namespace and belongs to what the `folder` names (endpoint.h; empty: not known)
// comes home, and nothing if a record of somebody else's is in it. unavailable (11) if the folder
// of records is missing although the agent has made it (check_records()).
Status del(const Context& context, const std::string& folder, Duration timeout);

}  // namespace ibpod::attach
