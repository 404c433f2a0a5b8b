// Shared by the files that implement rtnl.h.
#pragma once

#include "lib/nl/rtnl.h"

#include <string>

namespace ibpod::nl {

// "link 7"
std::string words(IfIndex link);

// A request about one link, its header filled in.
Message link_message(std::string what, uint16_t type, uint16_t flags, IfIndex index);

// invalid for a name that no link can have.
Status check_link_name(const std::string& name);

}  // namespace ibpod::nl
