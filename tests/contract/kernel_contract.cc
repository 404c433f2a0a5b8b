#include "tests/contract/kernel_contract.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

namespace ibpod::contract {
namespace {

using node::kHost;
using node::Namespace;
using node::Netdev;
using node::NetdevChange;

constexpr Duration kPatience{15000};
constexpr ib::PKey kPartition{0x8001};

// The value, or the case ends with the reason.
template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

template <typename T>
Code refusal(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().code();
}

// A bed, and what cases say about it.
struct Case {
  std::unique_ptr<Bed> bed = make_bed();
  const ib::PciAddress vf = bed->vf();

  node::Kernel& k() { return bed->kernel(); }
  node::Function function() { return *must(k().function(vf)); }

  std::optional<Netdev> find_own(const Namespace& where) {
    for (const Netdev& netdev : must(k().netdevs(where, vf))) {
      if (!netdev.parent) return netdev;
    }
    return std::nullopt;
  }
  Netdev own(const Namespace& where) {
    const std::optional<Netdev> found = find_own(where);
    REQUIRE(found);
    return *found;
  }
  std::optional<node::RdmaDevice> find_rdma(const Namespace& where) {
    const auto devices = must(k().rdma_devices(where, vf));
    if (devices.empty()) return std::nullopt;
    return devices.front();
  }
  node::RdmaDevice rdma(const Namespace& where) {
    const auto found = find_rdma(where);
    REQUIRE(found);
    return *found;
  }
  ib::Port port(const Namespace& where) { return must(k().port(where, rdma(where).name)); }

  // Things happen behind the caller's back.
  template <typename Look>
  bool soon(Look look) {
    return must(wait_until(k(), Deadline::in(kPatience), [&]() -> Result<bool> { return look(); }));
  }
  bool soon_in(ib::PortState state, const Namespace& where) {
    return soon([&] { return find_rdma(where) && port(where).state == state; });
  }
  bool soon_back() {
    return soon([&] { return find_rdma(kHost) && find_own(kHost); });
  }

  void change(const Namespace& where, const Netdev& netdev, const NetdevChange& wanted) {
    must(k().change_netdev(where, netdev.index, wanted));
  }
  void set_up(const Namespace& where, bool up) {
    NetdevChange wanted;
    wanted.up = up;
    change(where, own(where), wanted);
  }
  void set_altnames(const Namespace& where, const std::vector<std::string>& altnames) {
    NetdevChange wanted;
    wanted.altnames = altnames;
    change(where, own(where), wanted);
  }
  Status rename(const Namespace& where, const std::string& name) {
    NetdevChange wanted;
    wanted.name = name;
    return k().change_netdev(where, own(where).index, wanted);
  }
  void rebind() {
    const auto driver = function().driver;
    must(k().set_driver(vf, std::nullopt));
    must(k().set_driver(vf, driver));
  }
};

ib::PciAddress absent() { return ib::PciAddress::parse("0000:ff:1f.7").value(); }
ip::Prefix prefix(const char* text) { return ip::Prefix::parse(text).value(); }
ip::Address address(const char* text) { return ip::Address::parse(text).value(); }

bool has(const std::vector<nl::LinkAddress>& all, const ip::Prefix& wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& entry) { return entry.prefix == wanted; });
}

// --- questions

TEST_CASE("contract: a VF is found with its PF, driver and character devices") {
  Case c;
  const node::Function vf = c.function();
  CHECK(vf.address == c.vf);
  REQUIRE(vf.pf);
  CHECK(vf.driver);
  const auto has_kind = [&](const std::string& kind) {
    return std::any_of(vf.char_devices.begin(), vf.char_devices.end(),
                       [&](const std::string& name) { return name.starts_with(kind); });
  };
  CHECK(has_kind("uverbs"));
  CHECK(has_kind("umad"));
  CHECK(has_kind("issm"));
  const auto pf = must(c.k().function(*vf.pf));
  REQUIRE(pf);
  CHECK_FALSE(pf->pf);
  CHECK_FALSE(must(c.k().function(absent())));
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
  const Namespace first = c.bed->make_pod("contract-a");
  CHECK(must(c.k().find_namespace(first.path)) == first);
  CHECK_FALSE(must(c.k().find_namespace("/run/netns/contract-none")));
  CHECK(must(c.k().netdevs(first, c.vf)).empty());
  c.bed->kill_pod(first);
  CHECK_FALSE(must(c.k().find_namespace(first.path)));
  CHECK(refusal(c.k().netdevs(first, c.vf)) == Code::not_found);
  const Namespace second = c.bed->make_pod("contract-a");
  CHECK(second != first);
  CHECK(refusal(c.k().netdevs(first, c.vf)) == Code::not_found);
  CHECK(refusal(c.k().find_netdev(first, "lo")) == Code::not_found);
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
}

TEST_CASE("contract: a pod sees no device that is the host's") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  CHECK_FALSE(c.find_own(pod));
  CHECK_FALSE(c.find_rdma(pod));
  CHECK(refusal(c.k().port(pod, c.rdma(kHost).name)) == Code::not_found);
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

// --- VFs

TEST_CASE("contract: a bound VF takes its GUIDs when it is bound next") {
  Case c;
  const ib::Guid node(0x02c0ffee00000001);
  const ib::Guid port(0x02c0ffee00000002);
  const node::RdmaDevice before = c.rdma(kHost);
  must(c.k().set_vf_guids(c.function(), node, port));
  const nl::VfSettings told = must(c.k().vf_settings(c.function()));
  CHECK(told.node_guid == node);
  CHECK(told.port_guid == port);
  CHECK(c.rdma(kHost) == before);
  c.rebind();
  REQUIRE(c.soon_in(ib::PortState::active, kHost));
  CHECK(c.rdma(kHost).node_guid == node);
  CHECK(c.rdma(kHost).port_guid == port);
  CHECK(nl::guid_of(c.own(kHost).address) == port);
}

TEST_CASE("contract: zero is no GUID to set, all ones takes the GUID away") {
  Case c;
  const nl::VfSettings before = must(c.k().vf_settings(c.function()));
  CHECK(refusal(c.k().set_vf_guids(c.function(), ib::Guid(), before.port_guid)) == Code::invalid);
  CHECK(refusal(c.k().set_vf_guids(c.function(), before.node_guid, ib::Guid())) == Code::invalid);
  CHECK(must(c.k().vf_settings(c.function())) == before);
  must(c.k().set_vf_guids(c.function(), ib::kNoGuid, ib::kNoGuid));
  c.rebind();
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost).node_guid.none());
  CHECK(c.rdma(kHost).port_guid.none());
  CHECK(c.port(kHost).state == ib::PortState::down);
}

TEST_CASE(
    "contract: the link policy takes the port down at once, and up when the subnet manager comes "
    "by") {
  Case c;
  must(c.k().set_vf_policy(c.function(), nl::LinkPolicy::disable));
  CHECK(c.soon_in(ib::PortState::down, kHost));
  CHECK(must(c.k().vf_settings(c.function())).policy == nl::LinkPolicy::disable);
  must(c.k().set_vf_policy(c.function(), nl::LinkPolicy::enable));
  CHECK(c.soon_in(ib::PortState::active, kHost));
  must(c.k().set_vf_policy(c.function(), nl::LinkPolicy::automatic));
  CHECK(c.soon_in(ib::PortState::active, kHost));
}

TEST_CASE("contract: what a driver made goes with it, and is made anew") {
  Case c;
  const std::optional<std::string> driver = c.function().driver;
  const node::RdmaDevice before = c.rdma(kHost);
  must(c.k().set_driver(c.vf, std::nullopt));
  CHECK_FALSE(c.function().driver);
  CHECK(c.function().char_devices.empty());
  CHECK_FALSE(c.find_own(kHost));
  CHECK_FALSE(c.find_rdma(kHost));
  must(c.k().set_driver(c.vf, std::nullopt));
  must(c.k().set_driver(c.vf, driver));
  REQUIRE(c.soon_in(ib::PortState::active, kHost));
  CHECK(c.function().driver == driver);
  CHECK(c.rdma(kHost).port_guid == before.port_guid);
  CHECK_FALSE(c.own(kHost).up);
}

TEST_CASE("contract: a driver that is unknown or there already is refused") {
  Case c;
  const std::string driver = *c.function().driver;
  CHECK(refusal(c.k().set_driver(c.vf, driver)) == Code::busy);
  CHECK(refusal(c.k().set_driver(c.vf, "contract-none")) == Code::not_found);
  CHECK(refusal(c.k().set_driver(absent(), driver)) == Code::not_found);
  must(c.k().set_driver(absent(), std::nullopt));
}

TEST_CASE("contract: unbinding takes devices out of a pod, binding puts them on the host") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  must(c.k().move_rdma(kHost, c.rdma(kHost).name, pod));
  REQUIRE(c.soon([&] { return c.find_own(pod) || c.find_own(kHost); }));
  if (const auto outside = c.find_own(kHost))
    must(c.k().move_netdev(kHost, outside->index, pod, "net1"));
  c.rebind();
  REQUIRE(c.soon_back());
  CHECK_FALSE(c.find_rdma(pod));
  CHECK_FALSE(c.find_own(pod));
}

// --- RDMA devices

TEST_CASE("contract: an RDMA device moves whole, and its netdev is made anew somewhere") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const node::RdmaDevice device = c.rdma(kHost);
  const Netdev before = c.own(kHost);
  must(c.k().move_rdma(kHost, device.name, pod));
  CHECK_FALSE(c.find_rdma(kHost));
  CHECK(c.rdma(pod) == device);
  REQUIRE(c.soon([&] { return c.find_own(kHost).has_value() != c.find_own(pod).has_value(); }));
  const Netdev made = c.find_own(pod) ? c.own(pod) : c.own(kHost);
  CHECK_FALSE(made.up);
  CHECK(made.name.starts_with("ib"));
  CHECK(made.address != before.address);  // its queue pair is another one
  CHECK(nl::guid_of(made.address) == device.port_guid);
  CHECK(c.soon_in(ib::PortState::active, pod));
  CHECK(c.port(pod).guid == device.port_guid);
  CHECK(c.port(pod).pkeys.front().partition() != 0);
  // Seen from the host all the same.
  CHECK_FALSE(c.function().char_devices.empty());
}

TEST_CASE("contract: an RDMA device comes back, and takes its netdev out of the pod") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const node::RdmaDevice device = c.rdma(kHost);
  must(c.k().move_rdma(kHost, device.name, pod));
  REQUIRE(c.soon([&] { return c.find_own(pod) || c.find_own(kHost); }));
  if (const auto outside = c.find_own(kHost))
    must(c.k().move_netdev(kHost, outside->index, pod, "net1"));
  must(c.k().move_rdma(pod, device.name, kHost));
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost) == device);
  CHECK_FALSE(c.find_rdma(pod));
  CHECK_FALSE(c.find_own(pod));
}

TEST_CASE("contract: only what is in the namespace moves, and only to one that lives") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const Namespace dead = c.bed->make_pod("contract-b");
  c.bed->kill_pod(dead);
  const std::string device = c.rdma(kHost).name;
  CHECK(refusal(c.k().move_rdma(kHost, "contract_none", pod)) == Code::not_found);
  CHECK(refusal(c.k().move_rdma(pod, device, kHost)) == Code::not_found);
  CHECK(refusal(c.k().move_rdma(kHost, device, dead)) == Code::not_found);
  CHECK(refusal(c.k().move_netdev(kHost, c.own(kHost).index, dead, "net1")) == Code::not_found);
  CHECK(c.rdma(kHost).name == device);
  CHECK(c.find_own(kHost));
}

TEST_CASE("contract: a netdev in a pod disappears when its RDMA device follows it") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "net1"));
  must(c.k().move_rdma(kHost, c.rdma(kHost).name, pod));
  REQUIRE(c.soon([&] { return c.find_own(kHost).has_value() != c.find_own(pod).has_value(); }));
  CHECK_FALSE(must(c.k().find_netdev(pod, "net1")));
}

TEST_CASE("contract: an RDMA device's name is free in its namespace, or refused") {
  Case c;
  const std::string name = c.rdma(kHost).name;
  const std::string other = must(c.k().rdma_devices(kHost, *c.function().pf)).front().name;
  CHECK(refusal(c.k().rename_rdma(kHost, name, other)) == Code::exists);
  CHECK(refusal(c.k().rename_rdma(kHost, "contract_none", "contract_0")) == Code::not_found);
  must(c.k().rename_rdma(kHost, name, name));
  const std::string netdev = c.own(kHost).name;
  must(c.k().rename_rdma(kHost, name, "contract_0"));
  CHECK(c.rdma(kHost).name == "contract_0");
  CHECK(c.own(kHost).name == netdev);
}

TEST_CASE("contract: a name of another namespace is refused at once, or on the way there") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const std::string other = must(c.k().rdma_devices(kHost, *c.function().pf)).front().name;
  must(c.k().rename_rdma(kHost, c.rdma(kHost).name, "contract_0"));
  must(c.k().move_rdma(kHost, "contract_0", pod));
  const Status renamed = c.k().rename_rdma(pod, "contract_0", other);
  if (!renamed) {
    // Names are unique over all namespaces.
    CHECK(renamed.error().code() == Code::exists);
    return;
  }
  // Names are unique in a namespace: the device stays where it is; one whose namespace dies gets
  // another name.
  CHECK(refusal(c.k().move_rdma(pod, other, kHost)) == Code::exists);
  CHECK(c.rdma(pod).name == other);
  c.bed->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost).name != other);
}

// --- moving netdevs

TEST_CASE("contract: a netdev moves, under a new name, and is down") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.set_up(kHost, true);
  must(c.k().configure(kHost, before.index, {{prefix("10.99.0.1/24")}, {}},
                       Deadline::in(kPatience)));
  must(c.k().move_netdev(kHost, before.index, pod, "net1"));
  CHECK_FALSE(c.find_own(kHost));
  const Netdev moved = c.own(pod);
  CHECK(moved.name == "net1");
  CHECK_FALSE(moved.up);
  CHECK(moved.address == before.address);
  CHECK_FALSE(has(must(c.k().addresses(pod, moved.index)), prefix("10.99.0.1/24")));
  CHECK(c.find_rdma(kHost));
  must(c.k().move_netdev(pod, moved.index, kHost, before.name));
  CHECK(c.own(kHost).name == before.name);
}

TEST_CASE(
    "contract: where the new name is taken the netdev has moved all the same, under its old one") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.bed->add_netdev(pod, "net1");
  CHECK(refusal(c.k().move_netdev(kHost, before.index, pod, "net1")) == Code::exists);
  CHECK_FALSE(c.find_own(kHost));
  CHECK(c.own(pod).name == before.name);
}

TEST_CASE(
    "contract: where the old name is taken there the netdev gets the new one at once, or stays") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.bed->add_netdev(pod, before.name);
  c.bed->add_netdev(pod, "net1");
  CHECK(refusal(c.k().move_netdev(kHost, before.index, pod, "net1")) == Code::exists);
  CHECK(c.own(kHost).name == before.name);
  must(c.k().move_netdev(kHost, before.index, pod, "net2"));
  CHECK(c.own(pod).name == "net2");
}

TEST_CASE("contract: an altname that is taken there keeps the netdev at home") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  c.set_altnames(kHost, {"contractalt"});
  c.bed->add_netdev(pod, "contractalt");
  CHECK(refusal(c.k().move_netdev(kHost, c.own(kHost).index, pod, "net1")) == Code::exists);
  CHECK(c.find_own(kHost));
}

TEST_CASE("contract: a netdev whose index is taken there gets another") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.bed->add_netdev(pod, "contract0", before.index);
  must(c.k().move_netdev(kHost, before.index, pod, "net1"));
  CHECK(c.own(pod).index != before.index);
  CHECK(c.own(pod).name == "net1");
}

TEST_CASE("contract: a netdev that is gone is not found") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const nl::IfIndex gone{12345};
  CHECK(refusal(c.k().move_netdev(kHost, gone, pod, "net1")) == Code::not_found);
  CHECK(refusal(c.k().change_netdev(kHost, gone, {})) == Code::not_found);
  CHECK(refusal(c.k().announce(kHost, gone, {prefix("10.99.0.1/24")})) == Code::not_found);
  CHECK(refusal(c.k().configure(kHost, gone, {{prefix("10.99.0.1/24")}, {}},
                                Deadline::in(kPatience))) == Code::not_found);
  CHECK(must(c.k().addresses(kHost, gone)).empty());
  must(c.k().remove_netdev(kHost, gone));
}

// --- changing netdevs

TEST_CASE("contract: everything about a netdev in one change") {
  Case c;
  NetdevChange all;
  all.name = "contract0";
  all.altnames = {"contractalt", "contractalt2"};
  all.mtu = 1500;
  all.umcast = true;
  all.up = true;
  const Netdev before = c.own(kHost);
  c.change(kHost, before, all);
  const Netdev now = c.own(kHost);
  CHECK(now.index == before.index);
  CHECK(now.name == "contract0");
  CHECK(std::set(now.altnames.begin(), now.altnames.end()) ==
        std::set<std::string>{"contractalt", "contractalt2"});
  CHECK(now.mtu == 1500);
  CHECK(now.ipoib->umcast);
  CHECK(now.up);
  NetdevChange back;
  back.up = false;  // down comes first, so that the name may change
  back.name = before.name;
  back.altnames = {"contractalt2"};
  back.umcast = false;
  c.change(kHost, now, back);
  CHECK(c.own(kHost).name == before.name);
  CHECK(c.own(kHost).altnames == std::vector<std::string>{"contractalt2"});
  CHECK_FALSE(c.own(kHost).ipoib->umcast);
  CHECK_FALSE(c.own(kHost).up);
}

TEST_CASE("contract: a netdev that is up is renamed, or busy and as it was") {
  Case c;
  const std::string before = c.own(kHost).name;
  c.set_up(kHost, true);
  const Status renamed = c.rename(kHost, "contract0");
  if (!renamed) CHECK(renamed.error().code() == Code::busy);
  CHECK(c.own(kHost).name == (renamed ? "contract0" : before));
}

TEST_CASE("contract: a name that is taken is refused, its own altname too") {
  Case c;
  const std::string before = c.own(kHost).name;
  c.set_altnames(kHost, {"contractalt"});
  CHECK(refusal(c.rename(kHost, "lo")) == Code::exists);
  CHECK(refusal(c.rename(kHost, "contractalt")) == Code::exists);
  must(c.rename(kHost, before));
  CHECK(refusal(c.rename(kHost, "a/b")) == Code::invalid);
  NetdevChange taken;
  taken.altnames = {"lo"};
  CHECK(refusal(c.k().change_netdev(kHost, c.own(kHost).index, taken)) == Code::exists);
  CHECK(c.own(kHost).name == before);
}

TEST_CASE("contract: an MTU that no IPoIB link has is refused") {
  Case c;
  for (const uint32_t mtu : {1U, 9000U, 65521U}) {
    CAPTURE(mtu);
    NetdevChange change;
    change.mtu = mtu;
    CHECK(refusal(c.k().change_netdev(kHost, c.own(kHost).index, change)) == Code::invalid);
  }
}

TEST_CASE("contract: connected mode brings a larger MTU, datagram mode takes it away") {
  Case c;
  NetdevChange change;
  change.mode = nl::IpoibMode::connected;
  c.change(kHost, c.own(kHost), change);
  CHECK(c.own(kHost).ipoib->mode == nl::IpoibMode::connected);
  CHECK(c.own(kHost).mtu == 65520);
  change.mode = nl::IpoibMode::datagram;
  c.change(kHost, c.own(kHost), change);
  CHECK(c.own(kHost).ipoib->mode == nl::IpoibMode::datagram);
  CHECK(c.own(kHost).mtu <= 4092);
}

TEST_CASE("contract: a VF's netdev takes no other hardware address") {
  Case c;
  const Netdev before = c.own(kHost);
  nl::HardwareAddress other = before.address;
  other.at(19) ^= 1;
  CHECK_FALSE(c.bed->set_address(kHost, before.name, other));
  CHECK(c.own(kHost).address == before.address);
}

TEST_CASE("contract: carrier comes when the interface is up and the port is ACTIVE") {
  Case c;
  CHECK_FALSE(c.own(kHost).carrier);
  c.set_up(kHost, true);
  CHECK(c.soon([&] { return c.own(kHost).carrier; }));
  must(c.k().set_vf_policy(c.function(), nl::LinkPolicy::disable));
  CHECK(c.soon([&] { return !c.own(kHost).carrier; }));
}

// --- children

TEST_CASE("contract: a child is listed with its netdev, and removed") {
  Case c;
  const Netdev parent = c.own(kHost);
  c.bed->add_child(kHost, parent.name, "contractchild", kPartition);
  const auto netdevs = must(c.k().netdevs(kHost, c.vf));
  REQUIRE(netdevs.size() == 2);
  CHECK(netdevs.front().index == parent.index);
  CHECK_FALSE(netdevs.front().parent);
  CHECK(netdevs.back().name == "contractchild");
  CHECK(netdevs.back().parent == parent.index);
  CHECK(netdevs.back().ipoib->pkey == kPartition);
  must(c.k().remove_netdev(kHost, netdevs.back().index));
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 1);
}

TEST_CASE("contract: removing a VF's own netdev is a success that does nothing") {
  Case c;
  must(c.k().remove_netdev(kHost, c.own(kHost).index));
  CHECK(c.find_own(kHost));
}

TEST_CASE("contract: a child dies with its netdev, wherever it is") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  c.bed->add_child(kHost, c.own(kHost).name, "contractchild", kPartition);
  const Netdev child = *must(c.k().find_netdev(kHost, "contractchild"));
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  // Nothing tells whose it is, with its parent elsewhere.
  CHECK(must(c.k().netdevs(pod, c.vf)).empty());
  CHECK(must(c.k().find_netdev(pod, "net1")));
  CHECK(c.find_own(kHost));
  must(c.k().move_rdma(kHost, c.rdma(kHost).name, pod));
  REQUIRE(c.soon([&] { return c.find_own(kHost) || c.find_own(pod); }));
  CHECK_FALSE(must(c.k().find_netdev(pod, "net1")));
}

// --- addresses

TEST_CASE("contract: addresses and routes are there and settled when configure() is through") {
  Case c;
  c.set_up(kHost, true);
  const nl::IfIndex netdev = c.own(kHost).index;
  nl::Route route;
  route.destination = prefix("10.98.0.0/16");
  route.gateway = address("10.99.0.254");
  nl::Route route6;
  route6.destination = prefix("fd00:98::/32");
  route6.gateway = address("fd00:99::ffff");
  const node::Addressing wanted{{prefix("10.99.0.1/24"), prefix("fd00:99::1/64")}, {route, route6}};
  must(c.k().configure(kHost, netdev, wanted, Deadline::in(kPatience)));
  const auto now = must(c.k().addresses(kHost, netdev));
  CHECK(has(now, wanted.addresses[0]));
  CHECK(has(now, wanted.addresses[1]));
  // Those asked for: the kernel's own link-local address takes its time.
  CHECK(std::none_of(now.begin(), now.end(), [&](const auto& entry) {
    return entry.prefix == wanted.addresses[1] && (entry.tentative || entry.failed);
  }));
  const auto routes = must(c.k().routes(kHost, netdev));
  for (const nl::Route& asked : wanted.routes) {
    CHECK(std::any_of(routes.begin(), routes.end(), [&](const nl::Route& entry) {
      return entry.destination == asked.destination && entry.gateway == asked.gateway;
    }));
  }
  CHECK(refusal(c.k().configure(kHost, netdev, {{wanted.addresses[0]}, {}},
                                Deadline::in(kPatience))) == Code::exists);
  must(c.k().configure(kHost, netdev, {{}, {route, route6}}, Deadline::in(kPatience)));
  c.set_up(kHost, false);
  const auto down = must(c.k().addresses(kHost, netdev));
  CHECK(has(down, wanted.addresses[0]));
  CHECK_FALSE(has(down, wanted.addresses[1]));
  c.set_up(kHost, true);
  must(c.k().configure(kHost, netdev, {{}, {route}}, Deadline::in(kPatience)));  // it had gone
}

TEST_CASE("contract: a route through a gateway that nothing leads to is refused") {
  Case c;
  c.set_up(kHost, true);
  nl::Route route;
  route.destination = prefix("10.98.0.0/16");
  route.gateway = address("10.97.0.254");
  const node::Addressing wanted{{prefix("10.99.0.1/24")}, {route}};
  CHECK_FALSE(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(kPatience)));
  nl::Route way;
  way.destination = prefix("10.97.0.254/32");
  must(c.k().configure(kHost, c.own(kHost).index, {{}, {way, route}}, Deadline::in(kPatience)));
}

TEST_CASE("contract: a default route is added beside another interface's") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  c.bed->add_netdev(pod, "contract0");
  const auto configure = [&](const Netdev& netdev, const char* own, const char* gateway) {
    NetdevChange up;
    up.up = true;
    c.change(pod, netdev, up);
    nl::Route route;
    route.destination = prefix("0.0.0.0/0");
    route.gateway = address(gateway);
    must(c.k().configure(pod, netdev.index, {{prefix(own)}, {route}}, Deadline::in(kPatience)));
  };
  configure(*must(c.k().find_netdev(pod, "contract0")), "10.97.0.1/24", "10.97.0.254");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "net1"));
  configure(c.own(pod), "10.99.0.1/24", "10.99.0.254");
}

TEST_CASE("contract: an IPv6 address is given where the namespace has IPv6 disabled") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  c.bed->disable_ipv6(pod);
  c.bed->add_netdev(pod, "contract0");
  const Netdev netdev = *must(c.k().find_netdev(pod, "contract0"));
  NetdevChange up;
  up.up = true;
  c.change(pod, netdev, up);
  const ip::Prefix wanted = prefix("fd00:97::1/64");
  must(c.k().configure(pod, netdev.index, {{wanted}, {}}, Deadline::in(kPatience)));
  CHECK(has(must(c.k().addresses(pod, netdev.index)), wanted));
}

TEST_CASE("contract: without carrier no IPv6 address settles") {
  Case c;
  const node::Addressing wanted{{prefix("fd00:99::1/64")}, {}};
  CHECK(refusal(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(Duration(300)))) ==
        Code::unavailable);
}

TEST_CASE("contract: only an interface that is up announces") {
  Case c;
  const node::Addressing wanted{{prefix("10.99.0.1/24"), prefix("fd00:99::1/64")}, {}};
  CHECK_FALSE(c.k().announce(kHost, c.own(kHost).index, {wanted.addresses[0]}));
  c.set_up(kHost, true);
  REQUIRE(c.soon([&] { return c.own(kHost).carrier; }));
  must(c.k().configure(kHost, c.own(kHost).index, wanted, Deadline::in(kPatience)));
  must(c.k().announce(kHost, c.own(kHost).index, wanted.addresses));
}

// --- the end of a namespace

TEST_CASE("contract: a dying namespace gives everything back") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  const node::RdmaDevice device = c.rdma(kHost);
  must(c.k().move_rdma(kHost, device.name, pod));
  REQUIRE(c.soon([&] { return c.find_own(pod) || c.find_own(kHost); }));
  if (const auto outside = c.find_own(kHost))
    must(c.k().move_netdev(kHost, outside->index, pod, "net1"));
  c.bed->add_child(pod, c.own(pod).name, "contractchild", kPartition);
  c.bed->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost) == device);
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 1);
  CHECK(c.own(kHost).name.starts_with("ib"));
}

TEST_CASE(
    "contract: a netdev that was in a dying namespace without its RDMA device keeps its name") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "contract0"));
  c.bed->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.own(kHost).name == "contract0");
  CHECK_FALSE(c.own(kHost).up);
}

TEST_CASE("contract: a netdev whose name is taken on the host comes back under one of its index") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "contract0"));
  c.bed->add_netdev(kHost, "contract0");
  c.bed->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.own(kHost).name.starts_with("dev"));
  c.bed->remove_netdev(kHost, "contract0");
}

TEST_CASE("contract: children go home, too") {
  Case c;
  const Namespace pod = c.bed->make_pod("contract-a");
  c.bed->add_child(kHost, c.own(kHost).name, "contractchild", kPartition);
  must(c.k().move_netdev(kHost, must(c.k().find_netdev(kHost, "contractchild"))->index, pod,
                         "net1"));
  c.bed->kill_pod(pod);
  REQUIRE(c.soon([&] { return must(c.k().netdevs(kHost, c.vf)).size() == 2; }));
  const auto child = must(c.k().find_netdev(kHost, "net1"));
  REQUIRE(child);
  CHECK(child->parent == c.own(kHost).index);
  must(c.k().remove_netdev(kHost, child->index));
}

// --- waiting

TEST_CASE("contract: a wait ends with its deadline") {
  Case c;
  CHECK_FALSE(must(c.k().wait_for_change(Deadline::in(Duration(0)))));
  CHECK_FALSE(
      must(wait_until(c.k(), Deadline::in(Duration(50)), []() -> Result<bool> { return false; })));
}

}  // namespace
}  // namespace ibpod::contract
