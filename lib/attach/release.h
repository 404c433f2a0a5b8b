// end_attachment(): ends an attachment for ADD's rollback, DEL, GC and recovery.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/records.h"

namespace ibpod::attach {

// unavailable (11) if the folder of records is missing although the agent has made it, as on a disk
// that is not mounted: no attachment is known then.
Status check_records(const Context& context);

// The failures of ending an attachment.
struct EndResult {
  Status undone = ok();   // of the steps on this node
  Status unbound = ok();  // of removing the partitions' keys
  Status status() const;  // both
};

// `perhaps`: IPAM may have reserved addresses for the attachment.
enum class Addresses { perhaps, none };

// Ends a recorded attachment: its port leaves its partitions, the device is restored
// (node::restore) or removed (node::remove_child), owed addresses are noted (ipam.h), and the
// record is removed. Tries all steps, with at least kUndoTime each, and takes the device's lock.
//
// After a failure the record stays and the device is in quarantine until a later call succeeds;
// pkey_pending (node::Stage) if only the keys are left. ok if there is no such record or attempt;
// invalid or unsupported if it cannot be read.
Result<EndResult> end_attachment(const Context& context, const node::RecordName& name,
                                 Deadline deadline, Addresses addresses = Addresses::perhaps);

// end_attachment() with all failures in one status.
Status end_whole(const Context& context, const node::RecordName& name, Deadline deadline);

// True if the VF has been removed from the machine in this boot: its record stays until it returns,
// as mlx5 then gives it its old GUIDs. A child is removed with its parent.
Result<bool> is_missing(const Context& context, const node::Record& record);

// True if the record can never be read. Other failures to read do not count: a disk error, or a
// newer version's record.
bool is_damaged(const Result<node::Record>& record);

// Ends an attachment whose record cannot be read, if that is safe. A VF must be in the host's
// namespace, so that no pod has it; its GUIDs are removed. A child is removed on the host; one in
// another namespace ends with its pod's DEL, and its record stays until then: busy.
Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline);

}  // namespace ibpod::attach
