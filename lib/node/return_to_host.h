// return_to_host(): the step of restore() (restore.h) that moves a VF's devices from the pod's
// namespace to the host's. GUIDs, link policy, MTU and mode are the other steps of restore().
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/node/kernel.h"
#include "lib/node/record.h"

#include <optional>

namespace ibpod::node {

// The devices to return, and the namespace that they are in. Refers to objects of the caller;
// changes only `rebind_pending` in the record.
struct ReturnContext {
  Kernel& kernel;
  Record& record;  // says how many devices there are, and what the main interface was called
  const WriteRecord& write;
  Deadline deadline;
  std::optional<Namespace> pod;  // nothing: no path leads to it any more
};

// True if every device of the function is in the host's namespace or in the pod; and the GUIDs that
// it shows there. False also for devices that the pod has moved on to a third namespace.
Result<bool> reachable(const ReturnContext& context, std::optional<Guids>& shown);

// Call it before a bind or a move: it sets `rebind_pending` in the record. A record that cannot be
// written, as on a full disk, does not stop the return of the devices.
void mark_rebind_pending(const ReturnContext& context);

// Moves the devices in the pod home. The RDMA devices go first: with them the kernel makes their
// interfaces again. The names are those that are free (names.h). Does nothing without a pod.
Status return_to_host(const ReturnContext& context);

// Waits until every device is at home: after a fetch or a rebind. unavailable at the deadline.
Status await_home(const ReturnContext& context);

// Removes the IPoIB children that were not there before the pod.
Status remove_children(const ReturnContext& context, const Namespace& where);

}  // namespace ibpod::node
