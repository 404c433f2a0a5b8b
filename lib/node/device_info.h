// DeviceInfo: what a device-info file has of a PCI device (Device Information Specification 1.1.0).
// The kubelet's device plugin and the CNI plugins write it, Multus and the pod read it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/ib/pci_address.h"
#include "lib/json/value.h"

#include <string>

namespace ibpod::node {

struct DeviceInfo {
  json::Value pci = json::Value::object();
  // The other members; those of other programs are kept. Its own "pci" only holds the place.
  json::Value document =
      json::Value::object().set("type", "pci").set("version", "1.1.0").set("pci", pci);

  // "rdma-device" stays as it is if `rdma` is empty. "mlx5_3" or "mlx5_3,mlx5_4".
  void set_device(const ib::PciAddress& device, const std::string& rdma);
};

// An empty one if there is no file. invalid if the file has another form.
Result<DeviceInfo> read_device_info(const Path& file);
// Makes the folder if missing. Leaves a file alone that is the same already.
Status write_device_info(const Path& file, const DeviceInfo& info);

}  // namespace ibpod::node
