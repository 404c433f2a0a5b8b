// The version of a JSON document that is kept on disk and read by older and newer programs. This
// member never changes its meaning.
#pragma once

#include "lib/json/value.h"

namespace ibpod::json {

inline constexpr const char* kVersion = "version";

// Checks the member "version"; without it the version is 1. invalid if it is not a version; else as
// ibpod::check_version().
Status check_version(const Value& document, int64_t newest);

}  // namespace ibpod::json
