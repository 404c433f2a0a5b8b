// The device nodes that a pod is given with a device.
#pragma once

#include "device-plugin/pool.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct DeviceNode {
  std::string path;       // in the container
  std::string host_path;  // on the node; the same here, as libibverbs looks for the kernel's names
  std::string permissions = "rw";
  bool operator==(const DeviceNode&) const = default;
};

// As they are now, of this device only, in the order of their paths; /dev/infiniband/rdma_cm and
// /dev/vfio/vfio are everyone's. None for a ticket, and where the selector that took the device
// says "isRdma": false. A device on vfio-pci has its group instead.
std::vector<DeviceNode> device_nodes_of(const Pool& pool, const PoolDevice& pool_device);

// True if such a pool gives nodes with the device at all, whatever nodes the device has at the
// moment.
bool gives_nodes(const Pool& pool, const PoolDevice& pool_device);

// The character devices of a class (uverbs, umad, issm) that a device has.
std::vector<std::string> char_devices_of(const Device& device, const std::string& name);

}  // namespace ibpod::device_plugin
