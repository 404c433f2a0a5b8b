// Conflicts of memberships on a port: with other bindings, and with static members.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/records.h"

namespace ibpod::sm::bindings {

// `except`, below: the binding that is changed; null for a new one.

// busy if another attachment has the VF, or if children of another node have the port. The error
// names that attachment only to administrators and to its own node.
Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const state::PortRecord& port, const state::BindingRecord* except);
// busy if another binding of the port has or had another membership in one of these partitions;
// invalid if the port is a static member with another membership.
Status check_memberships(const state::PortRecord& port, const state::Memberships& memberships,
                         const state::BindingRecord* except);
// The entries in use in the port's table after `memberships` are added.
size_t entries_needed_at(const state::Records& records, ib::Guid guid,
                         const state::Memberships& memberships, const state::BindingRecord* except);

}  // namespace ibpod::sm::bindings
