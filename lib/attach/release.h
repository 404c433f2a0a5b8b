// end_attachment(): the one way in which an attachment ends: ADD's rollback, DEL, GC, recovery.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/records.h"

namespace ibpod::attach {

// unavailable (11) if the folder of records is missing although the node's agent has made it, as on
// a disk that is not mounted: nothing is known of any attachment then.
Status check_records(const Context& context);

// What has failed of an end.
struct EndResult {
  Status undone = ok();   // what is this node's to do
  Status unbound = ok();  // the partitions' keys
  Status status() const;  // of both
};

// Whether IPAM may have reserved addresses for the attachment.
enum class Addresses { perhaps, none };

// Ends the attachment that the record speaks of: its port leaves the partitions that the agent had
// it brought into, and the device goes back to what it was (node::restore) or out of the world
// (node::remove_child). Then what IPAM has to take back is noted (ipam.h; asking IPAM is
// the caller's), and the record goes. Every step is tried, with two exceptions: while the port
// still has keys that were given to it, a GUID of the pod's choice stays on it; and addresses stay
// reserved while the interface that has them may be there. All failures are told, and with any of
// them the record stays: the device is in quarantine until a later call succeeds. Where nothing but
// the partitions' keys is in the way, which only others can take out of the port's table, the
// record says so (node::Stage). Success where there is no such record (any more), or only one of an
// attempt that is not meant. invalid or unsupported where it cannot be read. Takes the device's
// lock. Each part has kUndoTime even where the one before has used up all of the deadline. A
// function that has been taken out of the machine keeps its record until it is back, or until the
// next boot: mlx5 gives a VF that returns the GUIDs and the policy it was told last.
Result<EndResult> end_attachment(const Context& context, const node::RecordName& name,
                                 Deadline deadline, Addresses addresses = Addresses::perhaps);

// The same, where it makes no difference what has failed.
Status end_whole(const Context& context, const node::RecordName& name, Deadline deadline);

// A VF that has been taken out of the machine in this boot. A child has gone with its parent.
Result<bool> is_missing(const Context& context, const node::Record& record);

// True if a record can never be read again. Any other failure to read it says nothing about
// it: the disk, or a newer version that wrote it.
bool is_damaged(const Result<node::Record>& record);

// Ends what stands in a folder under a name that cannot be read, if that is safe. A VF must be at
// home, in the host's namespace, so that no pod has it; it goes out of it without any GUID. A child
// is removed where it is on the host; one in any other namespace ends with its pod's DEL, which
// finds it without a record, and keeps this one until then: busy.
Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline);

}  // namespace ibpod::attach
