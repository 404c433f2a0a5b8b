// Limits the cost of parsing: a value takes many times the memory of its text, so that a megabyte
// of "{}," becomes dozens of them.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string_view>

namespace ibpod::json {

// invalid if `text` has more than `most` values: objects, lists, their members and elements. Counts
// commas and brackets outside strings in one pass; `text` need not be JSON.
Status check_parts(std::string_view text, size_t most);

}  // namespace ibpod::json
