// Authorization by ownership: partitions by namespaces and nodes, ports by nodes and pods.
// sm/api/authz.h has the permissions of roles, which are checked before.
//
// An error for a node must reveal nothing about others: neither their pods, nor which partitions
// exist.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/policy.h"
#include "sm/state/records.h"

namespace ibpod::sm::bindings {

// The owner of a port, from the point of view of one node.
enum class PortOwner { this_node, other_node, unassigned };

// Checks that the partition allows the namespace and the node of the request's pod, also for
// administrators. `record` null: there is no such partition. `label`: the name or P_Key that the
// caller used. All errors for a node have the same text, so that it cannot probe for partitions.
Status may_join(const fabricapi::Caller& caller, const state::PartitionRecord* record,
                const std::string& label, const fabricapi::BindRequest& request);

// Limited members cannot reach each other (IBA 1.4, volume 1, 10.9.3): if that is a partition's
// default membership, no pod can request more.
Status may_have(const fabricapi::Caller& caller, const fabric::Partition& partition,
                fabric::Membership membership);

// Checks that the node may use the port as the requested kind, or that the pod may request its
// GUID.
Status may_use_port(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                    const state::Records& records, const state::Policy& policy);
// The `vfs` and `pfs` of a Sync that no pod of the node could use. If pods may request GUIDs, every
// GUID of a VF is usable.
std::vector<ib::Guid> unknown_ports(const fabricapi::SyncRequest& request,
                                    const state::Records& records, const state::Policy& policy);
// The owner by assignment or configuration; bindings are not considered.
PortOwner port_owner(const state::Records& records, const state::Policy& policy, ib::Guid guid,
                     const std::string& node);

// True if the request, which may use the port, assigns it to the node as a PF.
bool claims_pf(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
               const state::Records& records, const state::Policy& policy);

}  // namespace ibpod::sm::bindings
