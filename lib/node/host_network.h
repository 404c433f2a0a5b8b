// The interfaces that the host needs for itself. Without an order by the administrator ibpod does
// not give them away, bind them again or make VFs of them: an interface that carries a default
// route, has an address, or is a port of a bond or a bridge, and one that has such an interface
// made on it (an IPoIB child, a VLAN, a macvlan, and the interfaces on these in turn).
//
// Every interface counts only for the function that it is made of. If the host's address is on a
// PF, the PF is never offered but its VFs are, as they are ports of their own: otherwise a node
// whose only HCA carries the host's storage network could give away nothing. Addresses that the
// kernel gives to every interface (IPv6 link-local ones) do not count.
#pragma once

#include "lib/nl/rtnl.h"
#include "lib/nl/socket.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ibpod::node {

// The host's network as it is now, read once for all functions.
struct HostNetwork {
  std::vector<nl::Link> links;
  std::map<nl::IfIndex, std::vector<ip::Prefix>> addresses;
  std::set<nl::IfIndex> default_routes;  // the links by which they go
};

// `route`: of the host's namespace.
Result<HostNetwork> read_host_network(nl::Socket& route);

// Why the host needs an interface, by the interface's name: "ib0 carries the default route", "ib0
// has the address 10.0.0.5/24", "ib0 is a port of bond0", and for a child on it "its child ib0.8001
// has …". Interfaces that it does not need are not in there. Pure.
std::map<std::string, std::string> needed_netdevs(const HostNetwork& network);

}  // namespace ibpod::node
