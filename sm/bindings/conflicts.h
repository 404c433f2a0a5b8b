// Conflicts of memberships on a port: with other bindings, and with static members.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/state/records.h"

namespace ibpod::sm::bindings {

// `except`: the binding that is changed; null for a new one.

// busy if another attachment has the VF, or if children of another node have the port. Only
// administrators and that attachment's own node learn its name.
Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const state::PortRecord& port, const state::BindingRecord* except);
// busy if another binding of the port has, or had until now, another membership in one of these
// partitions; invalid if the port is a static member with another membership.
Status check_memberships(const state::PortRecord& port, const state::Memberships& memberships,
                         const state::BindingRecord* except);
// The number of entries of the port's table in use once it has `memberships`, too.
size_t entries_needed_at(const state::Records& records, ib::Guid guid,
                         const state::Memberships& memberships, const state::BindingRecord* except);

}  // namespace ibpod::sm::bindings
