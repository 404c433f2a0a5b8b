// IPoIB children: made, listed, moved, ended.
#include "tests/contract/case.h"

#include <algorithm>

namespace ibpod::contract {
namespace {

const nl::NewChild kNew{.index = nl::IfIndex{20'000'000},
                        .name = "ibpod0123456789",
                        .alias = "ibpod0123456789",
                        .pkey = kPartition,
                        .umcast = true};
const nl::NewChild kSecond{.index = nl::IfIndex{20'000'001},
                           .name = "ibpod0000000002",
                           .alias = "ibpod0000000002",
                           .pkey = kPartition};

TEST_CASE("contract: a child is listed with its netdev, and removed") {
  Case c;
  const Netdev parent = c.own(kHost);
  c.fixture->add_child(kHost, parent.name, "contractchild", kPartition);
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

TEST_CASE(
    "contract: a child is made as it was ordered, down, and known by its alias where it goes") {
  Case c;
  const Netdev parent = c.own(kHost);
  must(c.k().create_child(parent.index, kNew));
  const Netdev child = *must(c.k().find_netdev(kHost, kNew.name));
  CHECK(child.alias == kNew.alias);
  CHECK(child.kind == "ipoib");
  CHECK(child.parent == parent.index);
  CHECK(child.ipoib->pkey == kPartition);
  CHECK(child.ipoib->mode == nl::IpoibMode::datagram);
  CHECK(child.ipoib->umcast);
  CHECK_FALSE(child.up);
  // The port's own limit, which nothing else tells. The broadcast group has its say later.
  CHECK(child.mtu == 4092);
  CHECK(child.address.size() == 20);
  CHECK(child.address != parent.address);
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  const auto inside = must(c.k().ipoib_netdevs(pod));
  REQUIRE(inside.size() == 1);
  CHECK(inside.front().name == "net1");
  CHECK(inside.front().alias == kNew.alias);
  CHECK(inside.front().address == child.address);
  must(c.k().remove_netdev(pod, inside.front().index));
  CHECK(must(c.k().ipoib_netdevs(pod)).empty());
}

TEST_CASE("contract: a child of a dying namespace comes back with its alias and its address") {
  Case c;
  must(c.k().create_child(c.own(kHost).index, kNew));
  const Netdev child = *must(c.k().find_netdev(kHost, kNew.name));
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  c.fixture->kill_pod(pod);
  const auto is_back = [&] {
    for (const Netdev& netdev : must(c.k().ipoib_netdevs(kHost))) {
      if (netdev.alias == kNew.alias && netdev.address == child.address && netdev.parent)
        return true;
    }
    return false;
  };
  CHECK(c.soon(is_back));
}

TEST_CASE("contract: a child has the index that was chosen for it, if that is free") {
  Case c;
  const Netdev parent = c.own(kHost);
  must(c.k().create_child(parent.index, kNew));
  CHECK(must(c.k().find_netdev(kHost, kNew.name))->index == kNew.index);
  nl::NewChild taken = kSecond;
  taken.index = kNew.index;
  CHECK(refusal(c.k().create_child(parent.index, taken)) == Code::exists);
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 2);
}

TEST_CASE("contract: several children may have one P_Key, and their parent's") {
  Case c;
  const Netdev parent = c.own(kHost);
  for (nl::NewChild child : {kNew, kSecond}) {
    child.pkey = parent.ipoib->pkey;
    must(c.k().create_child(parent.index, child));
  }
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 3);
  CHECK(must(c.k().own_netdevs(kHost, c.vf)).size() == 1);
}

TEST_CASE(
    "contract: no child is made with a name that is taken, without a partition, or on a child") {
  Case c;
  const Netdev parent = c.own(kHost);
  nl::NewChild other = kSecond;
  other.name = parent.name;
  CHECK(refusal(c.k().create_child(parent.index, other)) == Code::exists);
  other = kSecond;
  other.pkey = ib::PKey(0x8000);
  CHECK(refusal(c.k().create_child(parent.index, other)) == Code::invalid);
  must(c.k().create_child(parent.index, kNew));
  const Netdev child = *must(c.k().find_netdev(kHost, kNew.name));
  CHECK(refusal(c.k().create_child(child.index, kSecond)) == Code::invalid);
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 2);
}

TEST_CASE("contract: a netdev tells its function, a child tells none") {
  Case c;
  const Netdev parent = c.own(kHost);
  must(c.k().create_child(parent.index, kNew));
  CHECK(must(c.k().function_of(parent.name)) == c.vf);
  CHECK_FALSE(must(c.k().function_of(kNew.name)));
  CHECK_FALSE(must(c.k().function_of("lo")));
}

TEST_CASE("contract: a child dies with its netdev, wherever it is") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  c.fixture->add_child(kHost, c.own(kHost).name, "contractchild", kPartition);
  const Netdev child = *must(c.k().find_netdev(kHost, "contractchild"));
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  // Nothing tells whose it is, with its parent elsewhere.
  CHECK(must(c.k().netdevs(pod, c.vf)).empty());
  CHECK(must(c.k().own_netdevs(pod, c.vf)).empty());
  CHECK(must(c.k().find_netdev(pod, "net1")));
  CHECK(c.find_own(kHost));
  must(c.k().move_rdma(kHost, c.rdma(kHost).name, pod));
  REQUIRE(c.soon([&] { return c.find_own(kHost) || c.find_own(pod); }));
  CHECK_FALSE(must(c.k().find_netdev(pod, "net1")));
}

uint32_t queue_pair_of(const Netdev& netdev) {
  return uint32_t{netdev.address[1]} << 16 | uint32_t{netdev.address[2]} << 8 | netdev.address[3];
}

std::optional<Namespace> find_by_identity(Case& c, const Namespace& pod) {
  std::optional<Namespace> found;
  const auto gap = must(
      c.k().each_namespace(Deadline::in(kTimeout), [&](const Namespace& where) -> Result<bool> {
        if (where.identity == pod.identity) found = where;
        return found.has_value();
      }));
  CHECK_FALSE(gap);
  return found;
}

TEST_CASE("contract: the kernel tells whether a child is there, wherever a pod has taken it") {
  Case c;
  const auto tells = [&](const Netdev& netdev) {
    const auto pairs = must(c.k().ipoib_queue_pairs(c.vf));
    return std::find(pairs.begin(), pairs.end(), queue_pair_of(netdev)) != pairs.end();
  };
  const Netdev parent = c.own(kHost);
  must(c.k().create_child(parent.index, kNew));
  const Netdev child = *must(c.k().find_netdev(kHost, kNew.name));
  CHECK(tells(parent));
  CHECK(tells(child));
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  CHECK(tells(child));
  c.fixture->hide_pod(pod);
  CHECK_FALSE(must(c.k().find_namespace(pod.path)));
  CHECK(tells(child));
  const auto where = find_by_identity(c, pod);
  REQUIRE(where);
  const auto inside = must(c.k().ipoib_netdevs(*where));
  REQUIRE(inside.size() == 1);
  CHECK(inside.front().address == child.address);
  must(c.k().remove_netdev(*where, inside.front().index));
  CHECK(tells(parent));
  CHECK_FALSE(tells(child));
  c.fixture->kill_pod(pod);
}

TEST_CASE("contract: a namespace that has been looked at ends all the same") {
  Case c;
  must(c.k().create_child(c.own(kHost).index, kNew));
  const Netdev child = *must(c.k().find_netdev(kHost, kNew.name));
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, child.index, pod, "net1"));
  c.fixture->hide_pod(pod);
  const auto where = find_by_identity(c, pod);
  REQUIRE(where);
  CHECK(must(c.k().ipoib_netdevs(*where)).size() == 1);
  c.fixture->kill_pod(pod);
  CHECK(c.soon([&] { return must(c.k().netdevs(kHost, c.vf)).size() == 2; }));
  CHECK_FALSE(find_by_identity(c, pod));
}

}  // namespace
}  // namespace ibpod::contract
