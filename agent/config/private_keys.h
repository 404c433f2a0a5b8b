// The TLS keys by which the agent proves to SM services which node it is on.
#pragma once

#include "agent/config/config.h"
#include "lib/base/result.h"

namespace ibpod::agent::config {

// denied, with the key's place in the configuration, when others than our user have access to it:
// they could speak for this node. It is used all the same, as a Secret's volume may have it so. A
// key that is missing is no matter of this function.
Status check_private_keys(const Config& config);

}  // namespace ibpod::agent::config
