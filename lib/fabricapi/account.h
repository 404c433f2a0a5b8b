// The account under which a caller uses the service's limits.
#pragma once

#include "lib/fabricapi/caller.h"

#include <string>

namespace ibpod::fabricapi {

// A node has one account, whatever its certificates call it; others have one for each name by which
// they have their role.
std::string account_of(const Caller& caller);

}  // namespace ibpod::fabricapi
