#include "tests/contract/case.h"

namespace ibpod::contract {
namespace {

ib::PciAddress absent() { return ib::PciAddress::parse("0000:ff:1f.7").value(); }

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
  CHECK(must(c.k().char_devices(c.vf)).empty());
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
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_rdma(kHost, c.rdma(kHost).name, pod));
  REQUIRE(c.soon([&] { return c.find_own(pod) || c.find_own(kHost); }));
  if (const auto outside = c.find_own(kHost))
    must(c.k().move_netdev(kHost, outside->index, pod, "net1"));
  c.rebind();
  REQUIRE(c.soon_back());
  CHECK_FALSE(c.find_rdma(pod));
  CHECK_FALSE(c.find_own(pod));
}

TEST_CASE("contract: an RDMA device moves whole, and its netdev is created again somewhere") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
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
  CHECK_FALSE(must(c.k().char_devices(c.vf)).empty());
}

TEST_CASE("contract: an RDMA device comes back, and takes its netdev out of the pod") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const node::RdmaDevice device = c.give_all(pod);
  must(c.k().move_rdma(pod, device.name, kHost));
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost) == device);
  CHECK_FALSE(c.find_rdma(pod));
  CHECK_FALSE(c.find_own(pod));
}

TEST_CASE("contract: only what is in the namespace moves, and only to one that lives") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const Namespace dead = c.fixture->make_pod("contract-b");
  c.fixture->kill_pod(dead);
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
  const Namespace pod = c.fixture->make_pod("contract-a");
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

TEST_CASE("contract: an RDMA device with a name that no path can hold gets another one") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().rename_rdma(kHost, c.rdma(kHost).name, "contract_0"));
  must(c.k().move_rdma(kHost, "contract_0", pod));
  must(c.k().rename_rdma(pod, "contract_0", "contract/0"));
  const std::string name = c.rdma(pod).name;
  CHECK(name.find('/') == std::string::npos);
  must(c.k().move_rdma(pod, name, kHost));
  CHECK(c.rdma(kHost).name == name);
}

TEST_CASE("contract: the name that an RDMA device with a '/' would get may be somebody else's") {
  Case c;
  const std::string before = c.rdma(kHost).name;
  must(c.k().rename_rdma(kHost, before, "contract/0"));
  const std::string first = c.rdma(kHost).name;
  must(c.k().rename_rdma(kHost, first, before));
  const ib::PciAddress pf = *c.function().pf;
  const std::string other = must(c.k().rdma_devices(kHost, pf)).front().name;
  must(c.k().rename_rdma(kHost, other, first));
  must(c.k().rename_rdma(kHost, before, "contract/0"));
  const std::string second = c.rdma(kHost).name;
  CHECK(second.find('/') == std::string::npos);
  CHECK(second != first);
  CHECK(must(c.k().rdma_devices(kHost, pf)).front().name == first);
  must(c.k().rename_rdma(kHost, first, other));
  must(c.k().rename_rdma(kHost, second, before));
}

TEST_CASE("contract: a name of another namespace is refused at once, or on the way there") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
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
  c.fixture->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost).name != other);
}

}  // namespace
}  // namespace ibpod::contract
