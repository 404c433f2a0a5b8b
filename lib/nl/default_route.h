// The use of links in a namespace, by one request for all links: their addresses, and those with
// default routes.
#pragma once

#include "lib/nl/rtnl.h"

#include <map>
#include <set>
#include <vector>

namespace ibpod::nl {

// The links of a default route (0.0.0.0/0 or ::/0 of any table and metric), one for each next hop.
// Empty for any other route, and for a blackhole or unreachable one. Pure.
Result<std::vector<IfIndex>> parse_default_route(Bytes payload);

Result<std::set<IfIndex>> default_route_links(Socket& socket);
Result<std::map<IfIndex, std::vector<ip::Prefix>>> all_addresses(Socket& socket);

}  // namespace ibpod::nl
