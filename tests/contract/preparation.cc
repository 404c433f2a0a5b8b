// The calls that prepare a node: PFs, the number of their VFs, the RDMA namespace mode.
#include "tests/contract/case.h"

#include <algorithm>

namespace ibpod::contract {
namespace {

using Vfs = std::vector<ib::PciAddress>;

const ib::Guid kNode(0x02c0ffee00000011);
const ib::Guid kPort(0x02c0ffee00000012);

node::Pf pf_of(Case& c, const ib::PciAddress& address) {
  const auto pf = must(c.k().pf(address));
  REQUIRE(pf);
  return *pf;
}

// Puts the mode back, however the case ends.
struct ExclusiveAgain {
  Case& c;
  ~ExclusiveAgain() {
    const auto set = [&]() -> Result<bool> {
      return c.k().set_rdma_netns_mode(nl::RdmaNetnsMode::exclusive).ok();
    };
    CHECK(wait_until(c.k(), Deadline::in(kTimeout), set).ok());
  }
};

TEST_CASE("contract: a PF tells what it is, and its VFs in the order of their numbers") {
  Case c;
  const node::Function vf = c.function();
  const node::Pf pf = pf_of(c, *vf.pf);
  CHECK(pf.address == *vf.pf);
  CHECK(pf.vendor != 0);
  CHECK(pf.device != 0);
  CHECK(pf.driver == vf.driver);
  CHECK(pf.autoprobe);
  CHECK(pf.total_vfs >= pf.vfs.size());
  REQUIRE(pf.vfs.size() > vf.vf);
  CHECK(pf.vfs[vf.vf] == c.vf);
  CHECK_FALSE(must(c.k().pf(c.vf)));
}

TEST_CASE("contract: PFs are listed, VFs are not") {
  Case c;
  const Vfs all = must(c.k().pfs());
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(std::find(all.begin(), all.end(), *c.function().pf) != all.end());
  CHECK(std::find(all.begin(), all.end(), c.vf) == all.end());
}

TEST_CASE("contract: a number of VFs changes by way of none, and is no more than a PF can make") {
  Case c;
  const node::Pf pf = pf_of(c, *c.function().pf);
  const auto now = static_cast<uint32_t>(pf.vfs.size());
  const node::RdmaDevice device = c.rdma(kHost);
  CHECK(refusal(c.k().set_vf_count(pf.address, now == 1 ? 2 : now - 1)) == Code::busy);
  CHECK(refusal(c.k().set_vf_count(pf.address, pf.total_vfs + 1)) == Code::invalid);
  must(c.k().set_vf_count(pf.address, now));
  CHECK(refusal(c.k().set_vf_count(c.vf, 1)) == Code::not_found);
  CHECK(pf_of(c, pf.address) == pf);
  CHECK(c.rdma(kHost) == device);
}

TEST_CASE("contract: without autoprobe VFs are made without a driver, and take none") {
  Case c;
  const auto spare = c.fixture->spare_pf();
  if (!spare) return;
  const node::Pf before = pf_of(c, *spare);
  const auto count = static_cast<uint32_t>(before.vfs.size());
  must(c.k().set_vf_count(*spare, 0));
  CHECK(pf_of(c, *spare).vfs.empty());
  CHECK_FALSE(must(c.k().function(before.vfs.front())));
  must(c.k().set_autoprobe(*spare, false));
  must(c.k().set_vf_count(*spare, count));
  const node::Pf made = pf_of(c, *spare);
  CHECK_FALSE(made.autoprobe);
  CHECK(made.vfs == before.vfs);
  const ib::PciAddress& first = made.vfs.front();
  for (const ib::PciAddress& vf : made.vfs) CHECK_FALSE(must(c.k().function(vf))->driver);
  CHECK(refusal(c.k().set_driver(first, made.driver)) == Code::unsupported);
  // They take GUIDs and a policy all the same,
  const node::Function function = *must(c.k().function(first));
  must(c.k().set_vf_guids(function, kNode, kPort));
  must(c.k().set_vf_policy(function, nl::LinkPolicy::automatic));
  // and come up with them when they are bound.
  must(c.k().set_autoprobe(*spare, true));
  CHECK_FALSE(must(c.k().function(first))->driver);
  must(c.k().set_driver(first, made.driver));
  REQUIRE(c.soon([&] { return !must(c.k().rdma_devices(kHost, first)).empty(); }));
  const node::RdmaDevice device = must(c.k().rdma_devices(kHost, first)).front();
  CHECK(device.node_guid == kNode);
  CHECK(device.port_guid == kPort);
}

TEST_CASE("contract: what a PF was told of a VF outlives the VF") {
  Case c;
  const auto spare = c.fixture->spare_pf();
  if (!spare) return;
  const node::Pf before = pf_of(c, *spare);
  const ib::PciAddress& first = before.vfs.front();
  const node::Function function = *must(c.k().function(first));
  must(c.k().set_vf_guids(function, kNode, kPort));
  must(c.k().set_vf_policy(function, nl::LinkPolicy::automatic));
  const nl::VfSettings told = must(c.k().vf_settings(function));
  must(c.k().set_vf_count(*spare, 0));
  must(c.k().set_vf_count(*spare, static_cast<uint32_t>(before.vfs.size())));
  CHECK(must(c.k().vf_settings(function)) == told);
  // Autoprobe has bound it.
  REQUIRE(c.soon([&] { return !must(c.k().rdma_devices(kHost, first)).empty(); }));
  CHECK(must(c.k().rdma_devices(kHost, first)).front().port_guid == kPort);
}

TEST_CASE("contract: the RDMA namespace mode is set while there is no other namespace") {
  Case c;
  const ExclusiveAgain at_end{c};
  const auto set = [&](nl::RdmaNetnsMode mode) { return c.k().set_rdma_netns_mode(mode); };
  // Those of other cases count until the kernel has taken them down.
  REQUIRE(c.soon([&] { return set(nl::RdmaNetnsMode::shared).ok(); }));
  CHECK(must(c.k().rdma_netns_mode()) == nl::RdmaNetnsMode::shared);
  must(set(nl::RdmaNetnsMode::exclusive));
  const Namespace pod = c.fixture->make_pod("contract-a");
  CHECK(refusal(set(nl::RdmaNetnsMode::shared)) == Code::busy);
  must(set(nl::RdmaNetnsMode::exclusive));
  CHECK(must(c.k().rdma_netns_mode()) == nl::RdmaNetnsMode::exclusive);
  c.fixture->kill_pod(pod);
}

}  // namespace
}  // namespace ibpod::contract
