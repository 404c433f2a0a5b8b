// The life of a binding: creation, other partitions, lease, release.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/journal.h"

namespace ibpod::sm::bindings {

// Makes the binding that admit() (admission.h) has admitted, with these memberships. The first
// child on a PF claims the PF for its node, if the policy says so.
state::BindingRecord& create(state::Journal& journal, const fabricapi::Caller& caller,
                             const fabricapi::BindRequest& request, state::Memberships memberships,
                             state::Now now);
// Gives the binding these memberships instead of its own. Lost keys must leave the port's table
// before new ones come.
void rebind(state::Journal& journal, state::BindingRecord& entry, state::Memberships memberships,
            state::Now now);
// Restarts the lease, unless the binding is releasing. A binding whose lease has ended becomes
// `requested` again.
void renew(state::Journal& journal, state::BindingRecord& entry, state::Now now);
// For a lease that has ended: releases the binding if a Sync did not name it or the policy says so.
// Otherwise it becomes `unknown`.
void end_lease(state::Journal& journal, state::BindingRecord& entry, state::Now now);
// For a binding that a Sync does not name: it ends with its lease, or now if the lease has ended.
void note_missing(state::Journal& journal, state::BindingRecord& entry, state::Now now);
// Removes the binding's keys from its port. The binding is removed when they have left the port's
// table.
void release(state::Journal& journal, state::BindingRecord& entry, fabric::Condition why,
             state::Now now);

}  // namespace ibpod::sm::bindings
