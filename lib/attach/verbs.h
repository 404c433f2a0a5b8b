// The CNI verbs, written once for every kind of attachment: ADD, DEL, CHECK, GC, STATUS.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/attach/context.h"
#include "lib/cni/result.h"

#include <string>

namespace ibpod::attach {

// ADD. Waits for the node's agent if it is required, finds the device, locks it, writes the record,
// gives it to the pod, waits for the partition, asks IPAM for addresses, sets and announces them.
// Whatever fails is undone by end_attachment(); what cannot be undone now stays recorded, and the
// error says so.
Result<cni::AddResult> add(const Context& opened, AttachmentDriver& driver, Deadline deadline);

// DEL. Releases every attachment recorded for this container and interface, whatever the call still
// knows of it: works twice, without a namespace, after a reboot. Without a record, it takes back
// only what is in this call's own namespace and belongs to what `folder` names
// (attachment_driver.h; empty: not known), and nothing if the folder has another attachment's
// record. unavailable (11) if the folder of records is missing although the agent has made it
// (check_records()).
Status del(const Context& context, const std::string& folder, Duration timeout);

// CHECK. Looks at the record, at what the driver has to say and at the addresses of prevResult,
// then asks IPAM. The first thing that is not as it was is the error, reported as 106.
Status check(const Context& context, AttachmentDriver& driver, Duration timeout);

// GC. Releases the recorded attachments of this plugin and network that the runtime does not name
// as valid and whose pod is gone for certain; one whose namespace lives is never touched. Then
// tells an IPAM that knows GC, and has the driver end what no record speaks of. Goes on through
// failures and returns them all. unavailable as DEL.
Status gc(const Context& context, const AttachmentDriver& driver, Deadline deadline);

// STATUS. Fails only for what no ADD can survive: a runtime may turn the whole node not-ready on
// it.
Status status(const Context& opened, const AttachmentDriver& driver, Duration timeout);

}  // namespace ibpod::attach
