// Partitions by name: the node's agent has the cluster's SM service bring an attachment's port into
// its partitions, as its record says, and take it out of them.
#pragma once

#include "lib/attach/context.h"

#include <string>
#include <vector>

namespace ibpod::attach {

// On a node whose agent binds, `pkey` selects a partition of the SM service, and is bound like a
// named one; bit 15 requests full membership. invalid for the default partition: no port is bound
// in it.
Result<node::Spec> to_partition_request(node::Spec spec);

// For a node whose agent requires a partition in each network (AgentRequiredFile): invalid if there
// is none; the error names the first of the `unknown` keys that looks like a misspelled partition.
Status require_partition(const node::Spec& spec, const std::vector<std::string>& unknown);

// True if the SM service has to bind the attachment's port; the functions below are for that case.
inline bool names_partitions(const node::Spec& spec) { return !spec.partitions.empty(); }

// For an ADD that names partitions, before anything is recorded: unavailable if the agent does not
// answer.
Status require_sm(const Context& context, Deadline deadline);

// Starts the binding once the record is on disk; the agent goes on with it while the device is made
// ready.
Status begin_binding(const Context& context, const node::Record& record, Deadline deadline);

// True if the pod requested the VF's GUID: the VF gets it only after the SM service has granted it,
// because two ports with one GUID would have each other's keys.
inline bool needs_guid_grant(const node::Record& record) {
  return names_partitions(record.spec) && node::has_requested_guid(record);
}
// Waits until the SM service has granted the GUID. unavailable at the deadline; a refusal by the
// service is the error.
Status await_guid_grant(const Context& context, const node::Record& record, Deadline deadline);

struct BindingResult {
  std::vector<ib::PKey> keys;  // the partitions' keys, in the record's order
  bool is_verified = true;     // the keys were read in the port's table
};

// Waits until the SM service reports the binding verified: the port's table has exactly the
// partitions' keys, or there is no port yet and they need no proof. unavailable at the deadline,
// with the last state; a refusal is the error. An agent that restarts is asked again.
Result<BindingResult> await_binding(const Context& context, const node::Record& record,
                                    Deadline deadline);

// Waits until the keys have left the port's table; does nothing if the record has no partitions.
// unavailable: the keys may still be in it.
Status end_binding(const Context& context, const node::Record& record, Deadline deadline);

// end_binding() for a record that cannot be read, and may have a binding.
Status end_unread_binding(const Context& context, const node::RecordName& name, Deadline deadline);

// For CHECK: the keys for which the binding is verified now.
Result<std::vector<ib::PKey>> bound_keys(const Context& context, const node::Record& record);

}  // namespace ibpod::attach
