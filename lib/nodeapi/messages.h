// Messages of the node's API, and the values that they carry.
#pragma once

#include "api/ibpod/v1/node.pb.h"
#include "lib/nodeapi/node.h"

namespace ibpod::nodeapi {

v1::DeviceOfRequest to_message(const DeviceQuestion& question);
DeviceQuestion from_message(const v1::DeviceOfRequest& message);
v1::AttachmentBinding to_message(const Binding& binding);
// internal where a P_Key is none.
Result<Binding> from_message(const v1::AttachmentBinding& message);

}  // namespace ibpod::nodeapi
