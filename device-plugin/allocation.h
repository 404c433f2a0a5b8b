// Allocate: what a container is given with its devices.
#pragma once

#include "device-plugin/device_nodes.h"
#include "device-plugin/pool.h"
#include "lib/base/result.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = true;
  bool operator==(const Mount&) const = default;
};

// ContainerAllocateResponse of the kubelet's v1beta1, as a plain value.
struct AllocateResponse {
  std::map<std::string, std::string> envs;
  std::vector<Mount> mounts;
  std::vector<DeviceNode> device_nodes;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> cdi_devices;  // "example.com/ib=0000:3b:00.2"
  bool operator==(const AllocateResponse&) const = default;
};

// The answer for these devices of a resource. The environment is that of
// sriov-network-device-plugin: PCIDEVICE_… has the IDs, PCIDEVICE_…_INFO has JSON about each. Its
// character devices are the present ones: a move into a pod renumbers them. With CDI the nodes are
// in the CDI files and cdi_devices names them; without CDI they are in device_nodes.
//
// not_found for an ID that is not offered or belongs to another resource; invalid for one given
// twice and for none at all; unavailable for a device that is unhealthy or has no driver. Asks no
// kernel and no file: the kubelet waits without a deadline.
Result<AllocateResponse> allocate(const std::vector<PoolContents>& all_contents,
                                  const std::string& resource, const std::vector<std::string>& ids);

}  // namespace ibpod::device_plugin
