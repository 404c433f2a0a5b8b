// The device-info file: what the kubelet's device plugin and Multus tell a pod about its device
// (Device Information Specification 1.1.0).
#pragma once

#include "lib/attach/context.h"
#include "lib/attach/partition.h"

#include <optional>
#include <vector>

namespace ibpod::attach {

// Says in the file, which was written before the attachment, what the device is by now: its
// address, and the names of its RDMA devices, as device plugins write them (pci.rdma-device,
// "mlx5_3"). `membership` goes in as pkey and pkey-index, which a file without one does not have.
// Other members stay as they are; a file that does not exist is made, and its folder: Multus makes
// that only where the device plugin has written a file. The caller has checked that the folder is
// the one that the node allows (Keys::device_info).
// denied if it speaks of a device that another attachment has.
Status write_device_info(const node::Records& records, const Path& file,
                         const ib::PciAddress& device, const std::vector<node::RdmaDevice>& rdma,
                         const std::optional<TableEntry>& membership);

// An RDMA device that is moved or bound gets other character devices, and what the container may
// open was decided before: warns where they are others than those of `before`.
Status warn_of_other_char_devices(const Context& context, const node::Function& before);

}  // namespace ibpod::attach
