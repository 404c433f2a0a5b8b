// Who may do what. An administrator may do everything; a node what concerns its own pods and ports;
// a reader looks.
//
// What a refusal tells a node must not be about others: not which pods they have, and not which
// partitions there are.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/registry/policy.h"
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

namespace ibpod::sm::registry {

Status may_administer(const fabricapi::Caller& caller);
Status may_act_for(const fabricapi::Caller& caller, const std::string& node);
bool may_read(const fabricapi::Caller& caller, const std::string& node);

// Of the request's pod, by its namespace and its node, in a partition that the caller knows by
// `label`; null: there is none. Both count for administrators, too. To a node all refusals read the
// same: they do not tell which partitions there are.
Status may_join(const fabricapi::Caller& caller, const PartitionRecord* record,
                const std::string& label, const fabricapi::BindRequest& request);

// Limited members cannot reach each other (IBA 1.4, volume 1, 10.9.3): where that is what a
// partition is by itself, no pod makes itself more.
Status may_have(const fabricapi::Caller& caller, const fabric::Partition& partition,
                fabric::Membership membership);

// Of a node on a port, as the request's kind has it; or of a pod that has chosen it.
Status may_use_port(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                    const State& state, const Policy& policy);
// Of a Sync's `vfs` and `pfs`, those that may_use_port() refuses its node, whatever the pod. Where
// pods may choose GUIDs, a VF's own does not matter.
std::vector<ib::Guid> unknown_ports(const fabricapi::SyncRequest& request, const State& state,
                                    const Policy& policy);
// By what nodes have been given; of a port that is bound the binding says it.
PortOwner port_owner(const State& state, const Policy& policy, ib::Guid guid,
                     const std::string& node);

// Whether the port, which it may use, becomes the node's by that.
bool claims_pf(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
               const State& state, const Policy& policy);

}  // namespace ibpod::sm::registry
