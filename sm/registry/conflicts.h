// What stands in the way of shares on a port: others that are bound to it, and static members.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/registry/state.h"

#include <set>
#include <string>

namespace ibpod::sm {

// `except`: the binding that is to change; null for a new one.

// busy where another attachment has the VF, or where children of another node have the port. Only
// administrators, and its own node, learn who it is.
Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const Port& port, const Entry* except);
// busy where another binding of the port is, or was until now, in one of these partitions with
// another membership; invalid where it is a static member with another one.
Status check_memberships(const Port& port, const Shares& shares, const Entry* except);
// Partitions that are given, or are to be given, index 0 of the port's table. At most one. Those of
// children are not: the interface that a child is on keeps its index 0.
std::set<std::string> index0_of(const Book& book, ib::Guid guid, const Entry* except);
// busy where there would be two of them; invalid where these shares alone are.
Status check_index0(const Book& book, const fabricapi::BindRequest& request, const Shares& shares,
                    const Entry* except);
// Of the port's table, once it has `shares`, too.
size_t places_needed(const Book& book, ib::Guid guid, const Shares& shares, const Entry* except);

}  // namespace ibpod::sm
