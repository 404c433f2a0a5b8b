// Conflicts of memberships on a port: with other bindings, and with static members.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/registry/state.h"

#include <set>
#include <string>

namespace ibpod::sm::registry {

// `except`: the binding that is changed; null for a new one.

// busy if another attachment has the VF, or if children of another node have the port. Only
// administrators and that attachment's own node learn its name.
Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const PortRecord& port, const BindingRecord* except);
// busy if another binding of the port has, or had until now, another membership in one of these
// partitions; invalid if the port is a static member with another membership.
Status check_memberships(const PortRecord& port, const Memberships& memberships,
                         const BindingRecord* except);
// The partitions that have, or will have, index 0 of the port's table: at most one. Those of
// children do not count: the interface of the PF keeps its index 0.
std::set<std::string> index0_of(const State& state, ib::Guid guid, const BindingRecord* except);
// busy if two partitions would need index 0; invalid if both are in `memberships`.
Status check_index0(const State& state, const fabricapi::BindRequest& request,
                    const Memberships& memberships, const BindingRecord* except);
// The number of entries of the port's table in use once it has `memberships`, too.
size_t entries_needed_at(const State& state, ib::Guid guid, const Memberships& memberships,
                         const BindingRecord* except);

}  // namespace ibpod::sm::registry
