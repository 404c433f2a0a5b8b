// An attachment's partitions by name: the node's agent has the cluster's SM service bring its port
// into them, from what its record says, and take it out again.
#pragma once

#include "lib/attach/context.h"

#include <string>
#include <vector>

namespace ibpod::attach {

// On a node whose agent binds, a P_Key that is wanted is a partition of the SM service, and is
// bound like a named one; bit 15 asks for full membership. invalid for the default partition: no
// port is bound in it.
Result<node::Spec> to_partition_request(node::Spec spec);

// For a node whose agent wants each network to name a partition (AgentMark): invalid where this one
// names none, with the one of its `unknown` keys that may have been meant to.
Status require_partition(const node::Spec& spec, const std::vector<std::string>& unknown);

// Whether the SM service has to bind the attachment's port. Without, nothing below has a part in
// it.
inline bool names_partitions(const node::Spec& spec) { return !spec.partitions.empty(); }

// For an ADD that names partitions: unavailable if the agent is away. Nothing has been recorded
// yet.
Status require_sm(const Context& context, Deadline deadline);

// Once the record is on disk: the agent begins, and goes on while the device is made ready.
Status begin_binding(const Context& context, const node::Record& record, Deadline deadline);

// True if the pod has chosen the VF's GUID: the VF gets it only after the SM service has granted
// it, as two ports of one GUID would have each other's keys.
inline bool needs_guid_grant(const node::Record& record) {
  return names_partitions(record.spec) && node::has_requested_guid(record);
}
// Waits until it is. unavailable at the deadline; what the service refuses is the error.
Status await_guid_grant(const Context& context, const node::Record& record, Deadline deadline);

struct BindingResult {
  std::vector<ib::PKey> keys;  // the partitions', in the record's order
  bool is_verified = true;     // they have been seen in the port's table
};

// Waits until the SM service reports it verified: the port's own table holds the partitions' keys
// and no others, or there is no port yet and the partitions ask for no proof. unavailable at the
// deadline, with the state that was reached; a refusal by the SM service is the error. An agent
// that restarts meanwhile is asked again.
Result<BindingResult> await_binding(const Context& context, const node::Record& record,
                                    Deadline deadline);

// Waits until the keys have left the port's table. unavailable: they may still be in it. Nothing is
// done where the record names no partitions.
Status end_binding(const Context& context, const node::Record& record, Deadline deadline);

// The same for a record that cannot be read: it may have a binding.
Status end_unread_binding(const Context& context, const node::RecordName& name, Deadline deadline);

// For CHECK: the keys that it is verified for now.
Result<std::vector<ib::PKey>> bound_keys(const Context& context, const node::Record& record);

}  // namespace ibpod::attach
