// ADD: a pod gets its interface.
#pragma once

#include "lib/attach/attachment_driver.h"
#include "lib/cni/result.h"

namespace ibpod::attach {

// Claims what is to be given, writes the record, gives it to the pod, waits for the partition, asks
// IPAM for addresses, sets and announces them. Whatever fails is undone by end_attachment(); what
// cannot be undone now stays recorded, and the error says so.
Result<cni::AddResult> add(const Context& context, AttachmentDriver& driver, const node::Spec& spec,
                           Duration timeout);

}  // namespace ibpod::attach
