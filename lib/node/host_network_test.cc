#include "lib/node/host_network.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

using nl::IfIndex;

constexpr IfIndex kIb0{4}, kChild{5}, kIb1{6}, kBond{7}, kVlan{8};

nl::HardwareAddress address_of(uint8_t port) {
  nl::HardwareAddress address(20);
  address[12] = 2;
  address[19] = port;
  return address;
}

nl::Link link(IfIndex index, const std::string& name, uint8_t port) {
  nl::Link link;
  link.index = index;
  link.name = name;
  link.kind = "ipoib";
  link.address = address_of(port);
  return link;
}

// ib0 with the child ib0.8001, ib1, and a bond. Nothing is used yet.
HostNetwork network() {
  HostNetwork network;
  network.links = {link(kIb0, "ib0", 1), link(kChild, "ib0.8001", 1), link(kIb1, "ib1", 2),
                   link(kBond, "bond0", 9)};
  network.links[1].parent = kIb0;
  network.links[3].kind = "bond";
  return network;
}

ip::Prefix prefix(const std::string& text) { return ip::Prefix::parse(text).value(); }

using Needed = std::map<std::string, std::string>;

TEST_CASE("what is not used is not needed, and neither is what the kernel addresses by itself") {
  HostNetwork host = network();
  CHECK(needed_netdevs(host).empty());
  host.addresses[kIb0] = {prefix("fe80::1/64")};
  CHECK(needed_netdevs(host).empty());
}

TEST_CASE("an interface with an address is needed; other interfaces are not") {
  HostNetwork host = network();
  host.addresses[kIb1] = {prefix("fe80::1/64"), prefix("10.0.0.5/24")};
  CHECK(needed_netdevs(host) == Needed{{"ib1", "ib1 has the address 10.0.0.5/24"}});
  host.addresses[kIb1] = {prefix("2001:db8::5/64")};
  CHECK(needed_netdevs(host) == Needed{{"ib1", "ib1 has the address 2001:db8::5/64"}});
}

TEST_CASE("an interface with a default route is needed, whatever else it has") {
  HostNetwork host = network();
  host.addresses[kIb0] = {prefix("10.0.0.5/24")};
  host.default_routes = {kIb0};
  CHECK(needed_netdevs(host) == Needed{{"ib0", "ib0 carries the default route"}});
}

TEST_CASE("a port of a bond or bridge is needed") {
  HostNetwork host = network();
  host.links[2].master = kBond;
  CHECK(needed_netdevs(host) == Needed{{"ib1", "ib1 is a port of bond0"}});
}

TEST_CASE("a parent is needed for its child, and for itself first") {
  HostNetwork host = network();
  host.addresses[kChild] = {prefix("10.0.0.5/24")};
  CHECK(needed_netdevs(host).at("ib0") == "its child ib0.8001 has the address 10.0.0.5/24");
  CHECK(!needed_netdevs(host).contains("ib1"));
  for (const bool reversed : {false, true}) {
    CAPTURE(reversed);
    host.default_routes = {kIb0};
    if (reversed) std::swap(host.links[0], host.links[1]);
    CHECK(needed_netdevs(host).at("ib0") == "ib0 carries the default route");
  }
}

TEST_CASE("whatever stands on an interface makes it needed, through all that is between") {
  HostNetwork host = network();
  host.links.push_back(link(kVlan, "vlan5", 0));
  host.links.back().kind = "vlan";
  host.links.back().parent = kChild;
  host.addresses[kVlan] = {prefix("10.0.0.5/24")};
  const std::string use = "its child vlan5 has the address 10.0.0.5/24";
  CHECK(needed_netdevs(host) ==
        Needed{{"vlan5", "vlan5 has the address 10.0.0.5/24"}, {"ib0.8001", use}, {"ib0", use}});
  host.addresses.clear();
  host.links[1].master = kBond;
  CHECK(needed_netdevs(host).at("ib0") == "its child ib0.8001 is a port of bond0");
}

TEST_CASE("the index of a link in another namespace makes no link a parent") {
  HostNetwork host = network();
  host.links[1].kind = "veth";
  host.addresses[kChild] = {prefix("10.0.0.5/24")};
  CHECK(!needed_netdevs(host).contains("ib0"));
  host = network();
  host.links[1].parent = kIb1;  // its port has another GUID
  host.addresses[kChild] = {prefix("10.0.0.5/24")};
  CHECK(!needed_netdevs(host).contains("ib1"));
}

TEST_CASE("the host's network can be read") {
  nl::Socket route = nl::Socket::open(nl::Family::route).value();
  const Result<HostNetwork> host = read_host_network(route);
  REQUIRE(host.ok());
  CHECK(!host->links.empty());
}

}  // namespace
}  // namespace ibpod::node
