// A device changes hands: the next attachment waits until the last one's is over.
#pragma once

#include "lib/attach/context.h"
#include "lib/base/lock.h"
#include "lib/node/records.h"

namespace ibpod::attach {

// The lock of the folder, at a moment when no other record is in it. Until then the last pod's key
// or GUID may still be on it: after a forced deletion the kubelet gives a device to the next pod
// before the last one's DEL. Records of pods that are gone for certain (another boot, a namespace
// that does not exist any more; node::liveness) are released right here; so is what an attachment
// of this name has left on another device, as what is bound goes by the name (no two calls for one
// container are made at once: CNI 1.1, "Overview of runtime"). busy at the deadline, or at once
// where waiting cannot help; exists where the attachment is there already, with another device.
Result<FolderLock> acquire_device(const Context& context, const node::RecordName& own,
                                  Deadline deadline);

}  // namespace ibpod::attach
