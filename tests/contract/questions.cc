#include "tests/contract/case.h"

#include <algorithm>

namespace ibpod::contract {
namespace {

ib::PciAddress absent() { return ib::PciAddress::parse("0000:ff:1f.7").value(); }

TEST_CASE("contract: a VF is found with its PF, driver and character devices") {
  Case c;
  const node::Function vf = c.function();
  CHECK(vf.address == c.vf);
  REQUIRE(vf.pf);
  CHECK(vf.driver);
  const std::vector<std::string> char_devices = must(c.k().char_devices(c.vf));
  const auto has_kind = [&](const std::string& kind) {
    return std::any_of(char_devices.begin(), char_devices.end(),
                       [&](const std::string& name) { return name.starts_with(kind); });
  };
  CHECK(has_kind("uverbs"));
  CHECK(has_kind("umad"));
  CHECK(has_kind("issm"));
  const auto pf = must(c.k().function(*vf.pf));
  REQUIRE(pf);
  CHECK_FALSE(pf->pf);
  CHECK_FALSE(must(c.k().function(absent())));
  CHECK(must(c.k().char_devices(absent())).empty());
}

TEST_CASE("contract: a function that is not there has nothing") {
  Case c;
  CHECK(must(c.k().netdevs(kHost, absent())).empty());
  CHECK(must(c.k().rdma_devices(kHost, absent())).empty());
}

TEST_CASE(
    "contract: a namespace is found while it lives, and another one under its path is another "
    "one") {
  Case c;
  const Namespace first = c.fixture->make_pod("contract-a");
  CHECK(must(c.k().find_namespace(first.path)) == first);
  CHECK(must(c.k().namespace_status(first)) == netns::NetnsStatus::same);
  CHECK_FALSE(must(c.k().find_namespace("/run/netns/contract-none")));
  CHECK(must(c.k().netdevs(first, c.vf)).empty());
  c.fixture->kill_pod(first);
  CHECK_FALSE(must(c.k().find_namespace(first.path)));
  CHECK(must(c.k().namespace_status(first)) == netns::NetnsStatus::gone);
  CHECK(refusal(c.k().netdevs(first, c.vf)) == Code::not_found);
  const Namespace second = c.fixture->make_pod("contract-a");
  CHECK(second != first);
  CHECK(must(c.k().namespace_status(first)) == netns::NetnsStatus::gone);
  CHECK(refusal(c.k().netdevs(first, c.vf)) == Code::not_found);
  CHECK(refusal(c.k().find_netdev(first, "lo")) == Code::not_found);
}

TEST_CASE("contract: the host's network tells of links, their addresses and the default route") {
  Case c;
  c.set_up(kHost, true);
  const Netdev netdev = c.own(kHost);
  const auto address = ip::Prefix::parse("10.99.0.1/24").value();
  must(c.k().configure(kHost, netdev.index, {{address}, {}}, Deadline::in(kTimeout)));
  const node::HostNetwork network = must(c.k().host_network());
  const auto found = std::find_if(network.links.begin(), network.links.end(),
                                  [&](const nl::Link& link) { return link.index == netdev.index; });
  REQUIRE(found != network.links.end());
  CHECK(found->name == netdev.name);
  CHECK_FALSE(found->master);
  const auto& addresses = network.addresses.at(netdev.index);
  CHECK(std::find(addresses.begin(), addresses.end(), address) != addresses.end());
  CHECK_FALSE(network.default_routes.contains(netdev.index));
  CHECK(node::needed_netdevs(network).at(netdev.name) ==
        netdev.name + " has the address 10.99.0.1/24");
}

TEST_CASE("contract: a VF's netdev shows its port") {
  Case c;
  const Netdev netdev = c.own(kHost);
  CHECK(netdev.kind == "ipoib");
  CHECK(netdev.type == 32);
  CHECK(netdev.address.size() == 20);
  CHECK(netdev.broadcast.size() == 20);
  CHECK(nl::guid_of(netdev.address) == c.port(kHost).guid);
  REQUIRE(netdev.ipoib);
  // The key of index 0 as a full member's, whatever membership the table says.
  CHECK(netdev.ipoib->pkey.value() == (c.port(kHost).pkeys.front().value() | 0x8000));
}

TEST_CASE("contract: a link is found by its name and by an altname") {
  Case c;
  const Netdev netdev = c.own(kHost);
  c.set_altnames(kHost, {"contractalt"});
  CHECK(must(c.k().find_netdev(kHost, netdev.name))->index == netdev.index);
  CHECK(must(c.k().find_netdev(kHost, "contractalt"))->name == netdev.name);
  CHECK(must(c.k().find_netdev(kHost, "lo"))->name == "lo");
  CHECK_FALSE(must(c.k().find_netdev(kHost, "contractnone")));
  c.set_altnames(kHost, {});
  CHECK_FALSE(must(c.k().find_netdev(kHost, "contractalt")));
}

TEST_CASE("contract: an RDMA device shows its GUIDs and its port") {
  Case c;
  CHECK(must(c.k().rdma_netns_mode()) == nl::RdmaNetnsMode::exclusive);
  const node::RdmaDevice device = c.rdma(kHost);
  const ib::Port port = c.port(kHost);
  CHECK(port.state == ib::PortState::active);
  CHECK(port.lid != 0);
  CHECK(port.guid == device.port_guid);
  CHECK_FALSE(device.node_guid.none());
  REQUIRE_FALSE(port.pkeys.empty());
  CHECK(port.pkeys.front().partition() != 0);
  CHECK(refusal(c.k().port(kHost, "contract_none")) == Code::not_found);
  const auto full = ib::find_in(port.pkeys, port.pkeys.front());
  REQUIRE(full);
  const bool is_full = port.pkeys[*full].membership() == ib::Membership::full;
  ib::Port part = must(c.k().port_up_to(kHost, device.name, port.pkeys.front()));
  CHECK(part.pkeys.size() == (is_full ? *full + 1 : port.pkeys.size()));
  part.pkeys = port.pkeys;
  CHECK(part == port);
  CHECK(must(c.k().port_up_to(kHost, device.name, ib::PKey(0x5a5a))).pkeys == port.pkeys);
}

TEST_CASE("contract: a pod sees no device that is the host's") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  CHECK_FALSE(c.find_own(pod));
  CHECK_FALSE(c.find_rdma(pod));
  CHECK(refusal(c.k().port(pod, c.rdma(kHost).name)) == Code::not_found);
}

TEST_CASE("contract: the kernel tells who has an RDMA device open") {
  Case c;
  CHECK(must(c.k().rdma_users(c.vf)).empty());
  CHECK(must(c.k().rdma_users(absent())).empty());
  c.fixture->open_rdma(c.rdma(kHost).name);
  const std::vector<node::RdmaUser> users = must(c.k().rdma_users(c.vf));
  REQUIRE_FALSE(users.empty());
  CHECK(users.front().process != 0);
  CHECK(users.front().module.empty());
  CHECK(must(c.k().rdma_users(*c.function().pf)).empty());
  c.fixture->close_rdma();
  CHECK(must(c.k().rdma_users(c.vf)).empty());
}

TEST_CASE("contract: the PF tells what it was told of a VF") {
  Case c;
  const nl::VfSettings told = must(c.k().vf_settings(c.function()));
  CHECK(told.vf == nl::VfIndex{c.function().vf});
  CHECK(told.policy == nl::LinkPolicy::automatic);
  CHECK(told.port_guid == c.port(kHost).guid);
  node::Function unknown = c.function();
  unknown.vf = 120;
  CHECK(refusal(c.k().vf_settings(unknown)) == Code::not_found);
  const node::Function pf = *must(c.k().function(*c.function().pf));
  CHECK(refusal(c.k().vf_settings(pf)) == Code::invalid);
}

}  // namespace
}  // namespace ibpod::contract
