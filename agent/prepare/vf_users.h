// The users of a VF that others have made, as far as no record tells of them.
#pragma once

#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_state.h"

namespace ibpod::agent::prepare {

// All three return busy, naming the user, and an error where users cannot be seen. The caller
// checks, under the VF's lock, that no record names it.

// The pod that has it by the kubelet's word; without a kubelet there is none.
Status check_pod(const PodOf& pod_of, const ib::PciAddress& vf);

// Looks for all users: the pod, then processes and modules that use the RDMA device, then devices
// that are not at home, IPoIB children wherever they are, and the host. In this order a pod that
// comes after the kubelet's list shows in what is read later. Without a driver a VF has no users
// but a pod; with vfio-pci it may be a virtual machine's, which cannot be seen.
Status check_unused(const PrepareDeps& deps, const PodOf& pod_of, const ib::PciAddress& vf,
                    Deadline deadline);

// The same for a VF whose bind was cut short: a device of it that is missing at home may be missing
// everywhere, for which all namespaces are searched.
Status check_interrupted(const PrepareDeps& deps, const ib::PciAddress& vf, Deadline deadline);

}  // namespace ibpod::agent::prepare
