// What a namespace's settings say about IPv6.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod::nl {

// Lets the link and lo have IPv6 addresses (net.ipv6.conf.LINK.disable_ipv6) in the namespace
// behind `netns`. What allows it already stays untouched. A kernel without IPv6 is no failure: it
// refuses the addresses itself.
Status enable_ipv6(const Fd& netns, const std::string& link);

}  // namespace ibpod::nl
