// DEL: a pod loses its interface.
#pragma once

#include "lib/attach/context.h"

#include <string>

namespace ibpod::attach {

// Releases every attachment recorded for this container and interface, whatever the call still
// knows of it: works twice, without a namespace, after a reboot. Without a record, it takes back
// only what is in this call's own namespace and belongs to what `folder` names
// (attachment_driver.h; empty: not known), and nothing if the folder has another attachment's
// record. unavailable (11) if the folder of records is missing although the agent has made it
// (check_records()).
Status del(const Context& context, const std::string& folder, Duration timeout);

}  // namespace ibpod::attach
