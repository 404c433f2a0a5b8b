// What stands in the way of shares on a port: others that are bound to it, and static members.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/registry/state.h"

#include <set>
#include <string>

namespace ibpod::sm::registry {

// `except`: the binding that is to change; null for a new one.

// busy where another attachment has the VF, or where children of another node have the port. Only
// administrators, and its own node, learn who it is.
Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const PortRecord& port, const BindingRecord* except);
// busy where another binding of the port is, or was until now, in one of these partitions with
// another membership; invalid where it is a static member with another one.
Status check_memberships(const PortRecord& port, const Memberships& memberships,
                         const BindingRecord* except);
// Partitions that are given, or are to be given, index 0 of the port's table. At most one. Those of
// children are not: the interface that a child is on keeps its index 0.
std::set<std::string> index0_of(const State& state, ib::Guid guid, const BindingRecord* except);
// busy where there would be two of them; invalid where these shares alone are.
Status check_index0(const State& state, const fabricapi::BindRequest& request,
                    const Memberships& memberships, const BindingRecord* except);
// Of the port's table, once it has `shares`, too.
size_t entries_needed_at(const State& state, ib::Guid guid, const Memberships& memberships,
                         const BindingRecord* except);

}  // namespace ibpod::sm::registry
