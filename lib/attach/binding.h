// An attachment's partitions by name: the node's agent has the cluster's SM service bring its port
// into them, from what its record says, and take it out again.
#pragma once

#include "lib/attach/context.h"

#include <vector>

namespace ibpod::attach {

// Whether an ADD that wants partitions has whom to ask: unavailable while the agent is away.
// Nothing has been recorded yet.
Status check_binder(const Context& context, const node::Wanted& wanted, Deadline deadline);

// Once the record is on disk: the agent begins, and goes on while the device is made ready. Nothing
// is done where the record names no partitions, here and below.
Status begin_binding(const Context& context, const node::Record& record, Deadline deadline);

// Waits until the port's own table is verified to hold the partitions' keys and no others; the
// keys, in the record's order. unavailable at the deadline, saying how far it is; what the SM
// service refuses is the error. An agent that is started anew meanwhile is asked again.
Result<std::vector<ib::PKey>> await_binding(const Context& context, const node::Record& record,
                                            Deadline deadline);

// Waits until the keys have left the port's table. unavailable: they may still be in it.
Status end_binding(const Context& context, const node::Record& record, Deadline deadline);

// The same of a record that cannot be read, so that nobody knows whether anything is bound for it.
Status end_unread_binding(const Context& context, const node::RecordName& name, Deadline deadline);

// For CHECK: the keys that it is verified for now.
Result<std::vector<ib::PKey>> bound_keys(const Context& context, const node::Record& record);

}  // namespace ibpod::attach
