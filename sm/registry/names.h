// Checks of names in requests: they come from nodes and pods, and end up in the store, in logs and
// in answers to others.
#pragma once

#include "lib/fabricapi/fabric.h"

#include <string_view>

namespace ibpod::sm::registry {

// All checks return invalid, with the name of the field.
Status check_node(std::string_view name);
Status check(const fabric::Attachment& attachment);
// Checks all fields, but not that the things they name exist.
Status check(const fabricapi::BindRequest& request, size_t max_memberships);

// The key in the store, and page token: NODE/CONTAINER/INTERFACE. No part contains a '/'.
std::string key_of(const fabric::Attachment& attachment);
// invalid if it is not a result of key_of().
Result<fabric::Attachment> attachment_of(std::string_view key);

}  // namespace ibpod::sm::registry
