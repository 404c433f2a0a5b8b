// NodePorts: the ports that a pod of this node could be given, as an SM service is told of them.
#pragma once

#include "device-plugin/device.h"
#include "lib/ib/guid.h"

#include <optional>
#include <vector>

namespace ibpod::agent::sm_client {

struct NodePorts {
  std::vector<ib::Guid> vfs;  // GUIDs of VFs that no pod has
  std::vector<ib::Guid> pfs;  // of PFs, for IPoIB children
  bool operator==(const NodePorts&) const = default;
};

// The GUID of the port by which a device is on its fabric; nothing where it shows none.
std::optional<ib::Guid> port_of(const device_plugin::Device& device);
NodePorts ports_of(const std::vector<device_plugin::Device>& devices);

}  // namespace ibpod::agent::sm_client
