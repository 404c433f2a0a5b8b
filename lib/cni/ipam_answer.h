// What an IPAM plugin prints, read.
#pragma once

#include "lib/cni/result.h"

#include <string>
#include <vector>

namespace ibpod::cni {

// The answer to VERSION. What is no version is left out of the list.
Result<std::vector<Version>> parse_versions(const std::string& output);

// The answer to ADD. One without a version has the configuration's (libcni's reading); "null" is an
// empty one.
Result<AddResult> parse_answer(const std::string& output, Version configured);

}  // namespace ibpod::cni
