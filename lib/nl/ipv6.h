// The IPv6 setting of a namespace.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod::nl {

// Enables IPv6 on the link and on lo in the namespace `netns` (net.ipv6.conf.LINK.disable_ipv6), if
// it is off. Success on a kernel without IPv6, which refuses the addresses itself.
Status enable_ipv6(const Fd& netns, const std::string& link);

}  // namespace ibpod::nl
