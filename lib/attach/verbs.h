// The CNI verbs, common to all kinds of attachment: ADD, DEL, CHECK, GC, STATUS.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/attach/context.h"
#include "lib/cni/result.h"

#include <string>

namespace ibpod::attach {

// ADD. Waits for a required agent, acquires the device, writes the record, attaches, waits for the
// partitions, and sets and announces IPAM's addresses. After a failure end_attachment() undoes all;
// what cannot be undone stays recorded, and the error says so.
Result<cni::AddResult> add(const Context& opened, AttachmentDriver& driver, Deadline deadline);

// DEL. Releases all attachments recorded for this container and interface; works twice, without a
// namespace, and after a reboot. Without a record, releases only the device of `folder` (empty: not
// known) in this call's namespace, unless another attachment has it. Errors as check_records().
Status del(const Context& context, const std::string& folder, Duration timeout);

// CHECK. Compares the record, the driver's checks and the addresses of prevResult, then asks IPAM.
// The first difference is the error, reported as 106.
Status check(const Context& context, AttachmentDriver& driver, Duration timeout);

// GC. Releases this network's recorded attachments that the runtime does not call valid and whose
// pod is certainly gone, never those with a living namespace. Then calls IPAM's GC, and removes
// devices without a record. Goes on after failures, and returns all. unavailable as DEL.
Status gc(const Context& context, const AttachmentDriver& driver, Deadline deadline);

// STATUS. Fails only if no ADD can succeed: a runtime may mark the whole node not ready for it.
Status status(const Context& opened, const AttachmentDriver& driver, Duration timeout);

}  // namespace ibpod::attach
