// What a namespace uses its links for, each asked for once for all links: the addresses they have,
// and which ones the default routes go by.
#pragma once

#include "lib/nl/rtnl.h"

#include <map>
#include <set>
#include <vector>

namespace ibpod::nl {

// The links by which a route goes if it is a default one: 0.0.0.0/0 or ::/0, of whatever table and
// metric, each way of a multipath route. None for any other route, and for one that leads nowhere
// (blackhole, unreachable). Pure.
Result<std::vector<IfIndex>> parse_default_route(Bytes payload);

Result<std::set<IfIndex>> default_route_links(Socket& socket);
Result<std::map<IfIndex, std::vector<ip::Prefix>>> all_addresses(Socket& socket);

}  // namespace ibpod::nl
