// What a document costs to be read: the library's reader takes time with the square of the members
// of one object, and of the objects and lists in one list (nlohmann's ordered_map, and its callback
// for what is left out), so that a megabyte of "{}," takes minutes.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string_view>

namespace ibpod::json {

// invalid where `text` has more than `most` values: objects, lists, their members and elements.
// Counted by commas and brackets outside of strings, in one pass, whether it is JSON or not.
Status check_parts(std::string_view text, size_t most);

}  // namespace ibpod::json
