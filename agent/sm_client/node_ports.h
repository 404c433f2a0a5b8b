// NodePorts: the ports that a pod of this node could be given, as an SM service is told of them.
#pragma once

#include "device-plugin/device.h"
#include "lib/fabricapi/fabric.h"
#include "lib/ib/guid.h"
#include "lib/node/listing.h"
#include "lib/node/record.h"
#include "lib/sysfs/sysfs.h"

#include <set>
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

// Of the first ports with these GUIDs: those of the host's namespace, and those of the isolated
// devices of these attachments, read in their pods. A port that cannot be read is left out. Where
// several have a GUID, one that is up on the subnet of another fabric, by these prefixes, comes
// last.
std::vector<fabricapi::ObserveRequest::PortTable> read_pkey_tables(
    const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& other_subnets,
    const sysfs::Sysfs& host, const std::vector<node::Record>& records,
    const node::PodSysfs& pod_sysfs);

}  // namespace ibpod::agent::sm_client
