// The device-info file: the kubelet's device plugin and Multus describe a pod's device in it
// (Device Information Specification 1.1.0).
#pragma once

#include "lib/attach/context.h"
#include "lib/attach/partition.h"

#include <optional>
#include <vector>

namespace ibpod::attach {

// Updates the file's PCI address and RDMA devices ("mlx5_3"), and pkey and pkey-index if there is a
// membership. Makes the file and its folder if missing. The caller has checked the folder
// (Keys::device_info). denied if the file describes a device that another attachment has.
Status update_device_info(const node::Records& records, const Path& file,
                          const ib::PciAddress& device, const std::vector<node::RdmaDevice>& rdma,
                          const std::optional<TableEntry>& membership);

// Moving or binding an RDMA device changes its character devices, but the container's access was
// decided before: warns if they differ from those of `before`.
Status warn_of_other_char_devices(const Context& context, const ib::PciAddress& device,
                                  const std::vector<std::string>& before);

}  // namespace ibpod::attach
