#include "lib/node/host_network.h"

#include "lib/nl/default_route.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ibpod::node {
namespace {

using Links = std::map<nl::IfIndex, const nl::Link*>;

// fe80::/10
bool made_by_the_kernel(const ip::Prefix& prefix) {
  const auto& bytes = prefix.address.bytes();
  return prefix.address.family() == ip::Family::v6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

std::string use_of(const HostNetwork& network, const Links& links, const nl::Link& link) {
  if (network.default_routes.contains(link.index)) return " carries the default route";
  if (link.master) {
    const auto master = links.find(*link.master);
    return " is a port of " + (master == links.end() ? "a bond" : master->second->name);
  }
  const auto addresses = network.addresses.find(link.index);
  if (addresses == network.addresses.end()) return {};
  for (const ip::Prefix& address : addresses->second) {
    if (!made_by_the_kernel(address)) return " has the address " + address.text();
  }
  return {};
}

// A link's parent may be in another namespace, and not every kind tells that: a veth's peer is
// none.
bool is_made_on(const nl::Link& link, const nl::Link& parent) {
  constexpr std::array<std::string_view, 5> kinds{"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};
  const bool other_kind = std::find(kinds.begin(), kinds.end(), link.kind) != kinds.end();
  return other_kind || nl::is_ipoib_child(link, parent);
}

// nullptr for a link that is made on none.
const nl::Link* parent_of(const Links& links, const nl::Link& link) {
  const auto parent = link.parent ? links.find(*link.parent) : links.end();
  if (parent == links.end() || !is_made_on(link, *parent->second)) return nullptr;
  return parent->second;
}

}  // namespace

Result<HostNetwork> read_host_network(nl::Socket& route) {
  HostNetwork network;
  network.links = TRY(nl::links(route));
  network.addresses = TRY(nl::all_addresses(route));
  network.default_routes = TRY(nl::default_route_links(route));
  return network;
}

std::map<std::string, std::string> needed_netdevs(const HostNetwork& network) {
  Links links;
  for (const nl::Link& link : network.links) links.emplace(link.index, &link);
  std::map<std::string, std::string> needed;
  for (const nl::Link& link : network.links) {
    const std::string use = use_of(network, links, link);
    if (use.empty()) continue;
    needed.insert_or_assign(link.name, link.name + use);
    // A use of the parent itself comes first.
    const nl::Link* parent = parent_of(links, link);
    for (size_t above = 0; parent != nullptr && above < links.size(); ++above) {
      needed.emplace(parent->name, "its child " + link.name + use);
      parent = parent_of(links, *parent);
    }
  }
  return needed;
}

}  // namespace ibpod::node
