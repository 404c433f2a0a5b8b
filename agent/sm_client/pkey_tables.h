// The P_Key tables of the node's own ports, as its devices show them: what the SM service's witness
// `node` hears.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "lib/node/pod_sysfs.h"
#include "lib/node/record.h"
#include "lib/sysfs/sysfs.h"

#include <set>
#include <vector>

namespace ibpod::agent::sm_client {

// Of the first ports with these GUIDs: those of the host's namespace, and those of the isolated
// devices of these attachments, read in their pods. A port that cannot be read is left out. Where
// several have a GUID, one that is up on the subnet of another fabric, by these prefixes, comes
// last.
std::vector<fabricapi::ObserveRequest::PortTable> read_pkey_tables(
    const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& other_subnets,
    const sysfs::Sysfs& host, const std::vector<node::Record>& records,
    const node::PodSysfs& pod_sysfs);

}  // namespace ibpod::agent::sm_client
