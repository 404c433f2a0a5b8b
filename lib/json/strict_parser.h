// Parses JSON into nlohmann's values, in time that grows with the length of the text: its own
// parser with a callback searches all elements of a list at the end of each of them, and its
// ordered_map all keys of an object. For value.cc only.
#pragma once

#include "lib/base/result.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace ibpod::json {

// invalid, as Value::parse().
Result<nlohmann::ordered_json> parse_strictly(std::string_view text, bool ignore_comments);

}  // namespace ibpod::json
