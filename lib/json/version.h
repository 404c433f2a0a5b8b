// The version of a JSON document that is kept on disk, and read by programs older and newer than
// the one that wrote it: whatever else becomes another one, this member stays.
#pragma once

#include "lib/json/value.h"

namespace ibpod::json {

inline constexpr const char* kVersion = "version";

// The member "version"; a document without it is of version 1. invalid where it is no version at
// all, and as ibpod::check_version() else.
Status check_version(const Value& document, int64_t newest);

}  // namespace ibpod::json
