// Limits the cost of parsing: nlohmann's ordered_map and its parser callback take time with the
// square of the members of an object and of the elements of a list, so that a megabyte of "{},"
// takes minutes.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string_view>

namespace ibpod::json {

// invalid if `text` has more than `most` values: objects, lists, their members and elements. Counts
// commas and brackets outside strings in one pass; `text` need not be JSON.
Status check_parts(std::string_view text, size_t most);

}  // namespace ibpod::json
