// Inventory: all PCI functions of a node that a pod could be given, read at one moment.
//
// Those are the network controllers of the PCI class 02, whatever has RDMA devices, and the VFs of
// such a PF. What a pod has is still there: of a VF whose RDMA device has gone into a pod's
// namespace the host's sysfs tells the PCI facts and the character devices, and a sysfs of that
// namespace the rest. What cannot be seen is left empty and Device::unseen says why.
#pragma once

#include "device-plugin/device.h"
#include "device-plugin/host_use.h"
#include "lib/node/pod_sysfs.h"
#include "lib/node/records.h"
#include "lib/sysfs/sysfs.h"

#include <vector>

namespace ibpod::device_plugin {

// Borrowed for as long as the reading takes.
struct Sources {
  const sysfs::Sysfs& sysfs;  // the host's
  const node::Records& records;
  const HostNetwork& network;
  node::PodSysfs pod_sysfs;
  // An earlier inventory, from which the P_Key tables of ports that look the same (GUID, LID,
  // state) are taken: they are nine tenths of all files, and each of these asks an mlx5's firmware.
  // A table can change without any of that, so nullptr is due once in a while: all are read.
  const std::vector<Device>* known = nullptr;
};

// Sorted by address. A function that goes while it is read is left out, and what is wrong with one
// is told of that one only (Device::unseen). unavailable where VFs are being made or removed: there
// is an event at the end of that; read again then.
Result<std::vector<Device>> read_inventory(const Sources& sources);

}  // namespace ibpod::device_plugin
