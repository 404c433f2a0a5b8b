// What a request may call things. Everything in it comes from a node, or from a pod, and ends up in
// the store, in logs and in answers to others.
#pragma once

#include "lib/fabricapi/fabric.h"

#include <string_view>

namespace ibpod::sm::registry {

// invalid, naming the field.
Status check_node(std::string_view name);
Status check(const fabric::Attachment& attachment);
// With all fields, but not what they name.
Status check(const fabricapi::BindRequest& request, size_t most_shares);

// Keys of the store, and page tokens. No part of an attachment has a '/' in it.
std::string key_of(const fabric::Attachment& attachment);
// invalid if it cannot have been made by key_of().
Result<fabric::Attachment> attachment_of(std::string_view key);
// "worker-1/4fb2…/net1", as errors name it.
std::string text(const fabric::Attachment& attachment);

}  // namespace ibpod::sm::registry
