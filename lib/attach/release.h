// release(): the one way in which an attachment ends: ADD's rollback, DEL, GC, recovery.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/records.h"

namespace ibpod::attach {

// Ends the attachment that the record speaks of: its addresses go back to IPAM, the device back to
// what it was (node::restore), then the record goes. Every step is tried, all failures are told,
// and with any of them the record stays: the device is in quarantine until a later release
// succeeds. Success where there is no such record (any more). invalid or unsupported where it
// cannot be read. Takes the device's lock for the node's part, never for IPAM's.
// `addresses`: whether IPAM is still to be told.
enum class Addresses { reserved, given_back };
Status release(const Context& context, const node::RecordName& name, Deadline deadline,
               Addresses addresses = Addresses::reserved);

// Ends what stands in a folder under a name that cannot be read, if that is safe: the device must
// be at home, in the host's namespace, so that no pod has it. It goes out of it without any GUID.
Status release_damaged(const Context& context, const node::RecordName& name, Deadline deadline);

}  // namespace ibpod::attach
