// The names of an attachment as keys of the store and as page tokens. Names in requests are checked
// with the message (lib/fabricapi/fields.h); these checks are for the store, which older versions
// may have written, and for page tokens.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/binding.h"
#include "lib/fabricapi/calls.h"

#include <string>
#include <string_view>

namespace ibpod::sm::state {

// All checks return invalid, with the name of the field.
Status check_node(std::string_view name);
Status check(const fabric::Attachment& attachment);

// The key in the store, and the page token: NODE/CONTAINER/INTERFACE. Only NODE may contain a '/',
// after its cluster (lib/fabric/cluster_names.h).
std::string key_of(const fabric::Attachment& attachment);
// invalid if it is not a result of key_of().
Result<fabric::Attachment> attachment_of(std::string_view key);
// The number of items on a page of a list.
size_t size_of(const fabricapi::PageRequest& page);

}  // namespace ibpod::sm::state
