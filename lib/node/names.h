// restore_names(): gives devices at home the names, and the interfaces the settings, they had.
// keep_rdma_names(): the same for RDMA devices that are about to be given away.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/ib/pci_address.h"
#include "lib/node/kernel.h"
#include "lib/node/record.h"

#include <string>

namespace ibpod::node {

// Restores the names of the function's RDMA devices, and names, altnames, mode, MTU and up or down
// of its interfaces. If another device holds a name, it waits (that may be a VF on its way home)
// and then gives the name up. Not the hardware address: no VF's interface takes one, so no pod can
// have changed it.
Status restore_names(Kernel& kernel, const Record& record, Deadline deadline);

// After a bind for a pod. The kernel has given the lowest free number, and where names count in
// each namespace for itself (docs/kernel-notes.md#rdma-names) that may be the name of a device in a
// pod, which could not have it back while this one is in use. A name that another device holds
// stays with it.
Status keep_rdma_names(Kernel& kernel, const Record& record);

// A name that no other device wants ("vf0000af001"). A device takes it meanwhile, so that two
// devices that hold each other's name both get their own.
std::string temporary_name(const ib::PciAddress& device);

// True if another device holds the name.
bool is_name_taken(const Status& status);

}  // namespace ibpod::node
