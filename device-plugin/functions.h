// Which PCI functions of a node the inventory is about, and which VFs belong to which PF.
#pragma once

#include "device-plugin/device.h"
#include "lib/sysfs/sysfs.h"

#include <vector>

namespace ibpod::device_plugin {

// Network controllers (PCI class 02), functions with RDMA devices, and the VFs of such PFs; sorted,
// with address, ids, PF, number and how many VFs filled in. Network controllers of the PCI class
// InfiniBand (0207) have that as their link type.
// The second looks at these only; the PF of each VF has to be among them.
Result<std::vector<Device>> find_functions(const sysfs::Sysfs& sysfs);
Result<std::vector<Device>> find_functions(const sysfs::Sysfs& sysfs,
                                           const std::vector<ib::PciAddress>& among);

}  // namespace ibpod::device_plugin
