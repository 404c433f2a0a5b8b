// The users of a VF that others have made, as far as no record tells of them.
#pragma once

#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_state.h"

namespace ibpod::agent::prepare {

// busy, naming the user, unless the VF is idle (check_idle), no pod was given it by the kubelet,
// and no process or module uses its RDMA device. Without a driver it has no users but a pod; with
// vfio-pci it may be a virtual machine's, which cannot be seen. What cannot be seen is an error.
// The caller checks, under the VF's lock, that no record names it.
Status check_unused(const PrepareDeps& deps, const VfState& vf);

}  // namespace ibpod::agent::prepare
