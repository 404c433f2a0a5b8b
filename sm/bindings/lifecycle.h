// A binding's lease and its release.
#pragma once

#include "sm/state/journal.h"

namespace ibpod::sm::bindings {

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
