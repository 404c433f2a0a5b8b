// GC: ends attachments whose pods are gone without a DEL.
#pragma once

#include "lib/attach/context.h"

namespace ibpod::attach {

// Releases the recorded attachments of this plugin and network that the runtime does not name as
// valid and whose pod is gone for certain; one whose namespace lives is never touched. Then tells
// an IPAM that knows GC. Goes on through failures and returns them all.
Status gc(const Context& context, Deadline deadline);

}  // namespace ibpod::attach
