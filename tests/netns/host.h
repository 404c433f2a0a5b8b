// What the tests of this tier stand on: namespaces and pairs of links.
#pragma once

#include "lib/netns/netns.h"
#include "lib/nl/rtnl.h"

#include <string>

namespace ibpod {

// A network namespace that nobody else knows, gone with this object.
netns::NetNs fresh_namespace();

// A pair of Ethernet links, "host0" and "host1" in the calling thread's namespace.
void add_pair(nl::Socket& socket);

// The link, which must be there.
nl::Link link_named(nl::Socket& socket, const std::string& name);
bool there(nl::Socket& socket, const std::string& name);

}  // namespace ibpod
