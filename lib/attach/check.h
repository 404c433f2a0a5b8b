// CHECK: whether an attachment still is what ADD made of it.
#pragma once

#include "lib/attach/attachment_driver.h"

#include <string>

namespace ibpod::attach {

// Looks at the record, at what the endpoint has to say and at the addresses of prevResult, then
// asks IPAM. The first thing that is not as it was is the error, reported as 106.
Status check(const Context& context, AttachmentDriver& driver, Duration timeout);

// Such an error.
Error differs(const std::string& text);

}  // namespace ibpod::attach
