#include "tests/contract/case.h"

#include <algorithm>
#include <set>

namespace ibpod::contract {
namespace {

ip::Prefix prefix(const char* text) { return ip::Prefix::parse(text).value(); }

bool has(const std::vector<nl::LinkAddress>& all, const ip::Prefix& wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& entry) { return entry.prefix == wanted; });
}

TEST_CASE("contract: a netdev moves, under a new name, and is down") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.set_up(kHost, true);
  must(
      c.k().configure(kHost, before.index, {{prefix("10.99.0.1/24")}, {}}, Deadline::in(kTimeout)));
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
  const Namespace pod = c.fixture->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.fixture->add_netdev(pod, "net1");
  CHECK(refusal(c.k().move_netdev(kHost, before.index, pod, "net1")) == Code::exists);
  CHECK_FALSE(c.find_own(kHost));
  CHECK(c.own(pod).name == before.name);
}

TEST_CASE(
    "contract: where the old name is taken there the netdev gets the new one at once, or stays") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.fixture->add_netdev(pod, before.name);
  c.fixture->add_netdev(pod, "net1");
  CHECK(refusal(c.k().move_netdev(kHost, before.index, pod, "net1")) == Code::exists);
  CHECK(c.own(kHost).name == before.name);
  must(c.k().move_netdev(kHost, before.index, pod, "net2"));
  CHECK(c.own(pod).name == "net2");
}

TEST_CASE("contract: an altname that is taken there keeps the netdev at home") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  c.set_altnames(kHost, {"contractalt"});
  c.fixture->add_netdev(pod, "contractalt");
  CHECK(refusal(c.k().move_netdev(kHost, c.own(kHost).index, pod, "net1")) == Code::exists);
  CHECK(c.find_own(kHost));
}

TEST_CASE("contract: a netdev whose index is taken there gets another") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const Netdev before = c.own(kHost);
  c.fixture->add_netdev(pod, "contract0", before.index);
  must(c.k().move_netdev(kHost, before.index, pod, "net1"));
  CHECK(c.own(pod).index != before.index);
  CHECK(c.own(pod).name == "net1");
}

TEST_CASE("contract: a netdev that is gone is not found") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const nl::IfIndex gone{12345};
  CHECK(refusal(c.k().move_netdev(kHost, gone, pod, "net1")) == Code::not_found);
  const std::vector<NetdevChange> changes = {{},
                                             {.name = "contract0"},
                                             {.altnames = {{"contractalt"}}},
                                             {.mtu = 2044},
                                             {.mode = nl::IpoibMode::datagram},
                                             {.umcast = true},
                                             {.up = true},
                                             {.up = false}};
  for (const NetdevChange& change : changes)
    CHECK(refusal(c.k().change_netdev(kHost, gone, change)) == Code::not_found);
  CHECK(refusal(c.k().announce(kHost, gone, {prefix("10.99.0.1/24")})) == Code::not_found);
  CHECK(refusal(c.k().configure(kHost, gone, {{prefix("10.99.0.1/24")}, {}},
                                Deadline::in(kTimeout))) == Code::not_found);
  CHECK(must(c.k().addresses(kHost, gone)).empty());
  must(c.k().remove_netdev(kHost, gone));
}

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
  CHECK_FALSE(c.fixture->set_address(kHost, before.name, other));
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

TEST_CASE("contract: removing a VF's own netdev is a success that does nothing") {
  Case c;
  must(c.k().remove_netdev(kHost, c.own(kHost).index));
  CHECK(c.find_own(kHost));
}

}  // namespace
}  // namespace ibpod::contract
