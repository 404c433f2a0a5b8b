// release(): the one way in which an attachment ends: ADD's rollback, DEL, GC, recovery.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/records.h"

#include <optional>
#include <string_view>

namespace ibpod::attach {

// A variable of a call's environment: whoever sets it means this attempt (node::Record) and no
// other one. Between a look at a record and the DEL that follows from it, an ADD may have put its
// own in its place.
inline constexpr std::string_view kOnlyAttempt = "IBPOD_ATTEMPT";

// Ends the attachment that the record speaks of: its port leaves the partitions that the agent had
// it brought into, the device goes back to what it was (node::restore) or out of the world
// (node::remove_child), its addresses back to IPAM, then the record goes. Every step is tried, with
// two exceptions: while the port still has keys that were given to it, a GUID of the pod's choice
// stays on it; and addresses stay reserved while the interface that has them may be there. All
// failures are told, and with any of them the record stays: the device is in quarantine until a
// later release succeeds. Where nothing but the partitions' keys is in the way, which only
// others can take out of the port's table, the record says so (node::Stage). Success where there is
// no such record (any more), or only one of an attempt that is not meant. invalid or unsupported
// where it cannot be read. Takes the device's lock for the node's part, never for IPAM's. Each
// part has kUndoTime even where the one before has used up all of the deadline. A function that has
// been taken out of the machine keeps its record until it is back, or until the next boot: mlx5
// gives a VF that returns the GUIDs and the policy it was told last. `addresses`: what IPAM has
// answered to a DEL already; nothing: it is still to be asked.
Status release(const Context& context, const node::RecordName& name, Deadline deadline,
               std::optional<Status> addresses = std::nullopt);

// The same, where it makes a difference what has failed.
struct Ending {
  Status undone = ok();   // what is this node's to do
  Status unbound = ok();  // the partitions' keys
  Status status() const;  // of both
};
Result<Ending> end_attachment(const Context& context, const node::RecordName& name,
                              Deadline deadline, std::optional<Status> addresses = std::nullopt);

// Whether a record can be read by nobody any more. Any other failure to read it says nothing about
// it: the disk, or a newer version that wrote it.
bool is_damaged(const Result<node::Record>& record);

// Ends what stands in a folder under a name that cannot be read, if that is safe. A VF must be at
// home, in the host's namespace, so that no pod has it; it goes out of it without any GUID. A child
// is removed where it is on the host; one in any other namespace ends with its pod's DEL, which
// finds it without a record, and keeps this one until then: busy.
Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline);

}  // namespace ibpod::attach
