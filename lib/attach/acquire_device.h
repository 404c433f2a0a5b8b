// acquire_device(): waits until the device's last attachment has ended.
#pragma once

#include "lib/attach/context.h"
#include "lib/base/lock.h"
#include "lib/node/records.h"

namespace ibpod::attach {

// Returns the folder's lock when no other record is in it: after a forced deletion the last pod's
// key or GUID may still be on the device. Releases records of dead pods (node::liveness), and this
// attachment's on other devices. busy at the deadline or if waiting is useless; exists if it has
// another one.
Result<FolderLock> acquire_device(const Context& context, const node::RecordName& own,
                                  Deadline deadline);

}  // namespace ibpod::attach
