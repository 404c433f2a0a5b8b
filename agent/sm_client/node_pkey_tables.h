// The P_Key tables of this node's ports, read from sysfs, as the agent reports them to an SM
// service.
#pragma once

#include "lib/fabricapi/calls.h"
#include "lib/ib/guid.h"
#include "lib/node/listing.h"
#include "lib/node/record.h"
#include "lib/sysfs/sysfs.h"

#include <set>
#include <vector>

namespace ibpod::agent::sm_client {

// The table of the first port of each device with one of these GUIDs: the devices in the host's
// namespace, and the isolated devices of these attachments, read in their pods. A port that cannot
// be read is left out. If several have one GUID, a port that is up on the subnet of another fabric,
// by these prefixes, comes last.
std::vector<fabricapi::ObserveRequest::PortTable> read_node_pkey_tables(
    const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& other_subnets,
    const sysfs::Sysfs& host, const std::vector<node::Record>& records,
    const node::PodSysfs& pod_sysfs);

}  // namespace ibpod::agent::sm_client
