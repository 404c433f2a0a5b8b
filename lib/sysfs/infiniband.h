// RDMA devices: GUIDs, ports, P_Key tables.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/port.h"
#include "lib/sysfs/sysfs.h"

#include <string>

namespace ibpod::sysfs {

Result<ib::Guid> node_guid(const Sysfs& sysfs, const std::string& rdma_device);
// The GUID in GID 0 of port 1, 2 …
Result<ib::Guid> port_guid(const Sysfs& sysfs, const std::string& rdma_device, unsigned number);
// State, LID, GID 0 and the whole P_Key table of port 1, 2 …
Result<ib::Port> port(const Sysfs& sysfs, const std::string& rdma_device, unsigned number);

}  // namespace ibpod::sysfs
