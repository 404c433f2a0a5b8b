#include "tests/contract/case.h"

namespace ibpod::contract {
namespace {

TEST_CASE("contract: a dying namespace gives everything back") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  const node::RdmaDevice device = c.give_all(pod);
  c.fixture->add_child(pod, c.own(pod).name, "contractchild", kPartition);
  c.fixture->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.rdma(kHost) == device);
  CHECK(must(c.k().netdevs(kHost, c.vf)).size() == 1);
  CHECK(c.own(kHost).name.starts_with("ib"));
}

TEST_CASE(
    "contract: a netdev that was in a dying namespace without its RDMA device keeps its name") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "contract0"));
  c.fixture->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.own(kHost).name == "contract0");
  CHECK_FALSE(c.own(kHost).up);
}

TEST_CASE("contract: a netdev whose name is taken on the host comes back under one of its index") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  must(c.k().move_netdev(kHost, c.own(kHost).index, pod, "contract0"));
  c.fixture->add_netdev(kHost, "contract0");
  c.fixture->kill_pod(pod);
  REQUIRE(c.soon_back());
  CHECK(c.own(kHost).name.starts_with("dev"));
  c.fixture->remove_netdev(kHost, "contract0");
}

TEST_CASE("contract: children go home, too") {
  Case c;
  const Namespace pod = c.fixture->make_pod("contract-a");
  c.fixture->add_child(kHost, c.own(kHost).name, "contractchild", kPartition);
  must(c.k().move_netdev(kHost, must(c.k().find_netdev(kHost, "contractchild"))->index, pod,
                         "net1"));
  c.fixture->kill_pod(pod);
  REQUIRE(c.soon([&] { return must(c.k().netdevs(kHost, c.vf)).size() == 2; }));
  const auto child = must(c.k().find_netdev(kHost, "net1"));
  REQUIRE(child);
  CHECK(child->parent == c.own(kHost).index);
  must(c.k().remove_netdev(kHost, child->index));
}

TEST_CASE("contract: a wait ends with its deadline") {
  Case c;
  // Changes that the earlier cases began may still happen.
  const Deadline deadline = Deadline::in(kTimeout);
  bool changed = true;
  while (changed && !deadline.passed())
    changed = must(c.k().wait_for_change(Deadline::in(Duration(0))));
  CHECK_FALSE(changed);
  CHECK_FALSE(
      must(wait_until(c.k(), Deadline::in(Duration(50)), []() -> Result<bool> { return false; })));
}

}  // namespace
}  // namespace ibpod::contract
