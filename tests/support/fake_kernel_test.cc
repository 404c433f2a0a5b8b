// Behavior that only the model can show, and the model's own tools. The behavior that it shares
// with the real kernel is tested in tests/contract.
#include "tests/support/fake_kernel.h"

#include <doctest/doctest.h>

namespace ibpod::fake {
namespace {

using node::kHost;
using node::Namespace;

const ib::PciAddress kVf = vf_address(0, 0);
const Path kPod = "/run/netns/pod";

node::Function function(FakeKernel& k) { return *k.function(kVf).value(); }

node::Netdev own(FakeKernel& k, const Namespace& where) {
  const auto netdevs = k.netdevs(where, kVf).value();
  REQUIRE_FALSE(netdevs.empty());
  return netdevs.front();
}

std::vector<std::string> rdma_names(FakeKernel& k, const Namespace& where) {
  std::vector<std::string> names;
  const auto devices = k.rdma_devices(where, kVf).value();
  for (const auto& device : devices) names.push_back(device.name);
  return names;
}

void set_up(FakeKernel& k, const Namespace& where) {
  node::NetdevChange change;
  change.up = true;
  k.change_netdev(where, own(k, where).index, change).value();
}

// Takes the VF through what changes every number that does not count.
void rebind(FakeKernel& k) {
  k.set_driver(kVf, std::nullopt).value();
  k.set_driver(kVf, "mlx5_core").value();
}

TEST_CASE("a node to start from is in order") {
  FakeKernel k = node_with(2, 9);
  CHECK(k.state.namespaces.at(kHostId).rdma.size() == 20);
  CHECK(vf_address(1, 8).text() == "0000:3c:01.1");
  const auto port = k.port(kHost, "mlx5_19").value();
  CHECK(port.state == ib::PortState::active);
  CHECK(port.guid == vf_guid(1, 8));
  CHECK(k.find_netdev(kHost, "ib19").value());
  CHECK_FALSE(k.settle());
}

// --- comparing states

TEST_CASE("numbers that are handed out anew do not count, names do") {
  FakeKernel k = one_vf_node();
  const State before = k.state;
  const node::Netdev netdev = own(k, kHost);
  rebind(k);
  CHECK(own(k, kHost).index != netdev.index);
  CHECK(own(k, kHost).address != netdev.address);
  CHECK(rdma_names(k, kHost) == std::vector<std::string>{"mlx5_2"});
  CHECK(k.state != before);
  CHECK(diff(before, k.state).starts_with("- host: ib1 ipoib down mtu=2044 altname=ibp59s0v0"));
  k.rename_rdma(kHost, "mlx5_2", "mlx5_1").value();
  node::NetdevChange change;
  change.altnames = netdev.altnames;
  k.change_netdev(kHost, own(k, kHost).index, change).value();
  CHECK(diff(before, k.state) == "");
  CHECK(k.state == before);
}

TEST_CASE("no GUID is no GUID, zeros or ones") {
  FakeKernel k = fresh_vf_node();
  const State before = k.state;
  k.set_vf_guids(function(k), ib::kNoGuid, ib::kNoGuid).value();
  CHECK(k.state == before);
}

// --- drivers

TEST_CASE("a VF whose PF was told nothing has what it was made with") {
  FakeKernel k = fresh_vf_node();
  k.function_state(kVf).made_with.value = vf_guid(0, 0);
  CHECK(k.rdma_devices(kHost, kVf).value().front().port_guid.none());
  rebind(k);
  CHECK(k.rdma_devices(kHost, kVf).value().front().port_guid == vf_guid(0, 0));
  CHECK(k.vf_settings(function(k)).value().port_guid == ib::Guid());
}

TEST_CASE(
    "netdevs and character devices take the lowest free numbers, RDMA names are never used again") {
  FakeKernel k = node_with(1, 3);
  k.set_driver(vf_address(0, 0), std::nullopt).value();
  k.set_driver(vf_address(0, 1), std::nullopt).value();
  k.set_driver(vf_address(0, 1), "mlx5_core").value();
  CHECK(k.netdevs(kHost, vf_address(0, 1)).value().front().name == "ib1");
  CHECK(k.char_devices(vf_address(0, 1)).value() ==
        std::vector<std::string>{"issm1", "umad1", "uverbs1"});
}

TEST_CASE("vfio-pci makes nothing of a function") {
  FakeKernel k = one_vf_node();
  k.set_driver(kVf, std::nullopt).value();
  k.set_driver(kVf, "vfio-pci").value();
  CHECK(function(k).driver == "vfio-pci");
  CHECK(k.char_devices(kVf).value().empty());
  CHECK(k.netdevs(kHost, kVf).value().empty());
  CHECK(k.rdma_devices(kHost, kVf).value().empty());
  CHECK(k.set_vf_guids(function(k), vf_guid(0, 5), vf_guid(0, 5)));
}

TEST_CASE("without autoprobe no VF is bound") {
  FakeKernel k = one_vf_node();
  k.function_state(pf_address(0)).autoprobe = false;
  k.set_driver(kVf, std::nullopt).value();
  CHECK(k.set_driver(kVf, "mlx5_core").error().code() == Code::unsupported);
}

TEST_CASE("a function that vanishes takes all with it") {
  FakeKernel k = one_vf_node();
  const node::Function vf = function(k);
  k.vanish(kVf);
  CHECK_FALSE(k.function(kVf).value());
  CHECK(k.netdevs(kHost, kVf).value().empty());
  CHECK(k.vf_settings(vf).error().code() == Code::not_found);
  CHECK(k.set_vf_guids(vf, vf_guid(0, 0), vf_guid(0, 0)).error().code() == Code::invalid);
  CHECK(k.set_driver(kVf, std::nullopt));
}

TEST_CASE("VFs are reached through their PF's netdev only, and not on every kernel") {
  FakeKernel k = one_vf_node();
  k.tells_vf_settings = false;
  CHECK(k.vf_settings(function(k)).error().code() == Code::unsupported);
  k.tells_vf_settings = true;
  k.set_driver(pf_address(0), std::nullopt).value();
  CHECK(k.vf_settings(function(k)).error().code() == Code::unavailable);
  CHECK(k.set_vf_policy(function(k), nl::LinkPolicy::enable).error().code() == Code::unavailable);
}

// --- namespaces

TEST_CASE("the netdev of a moved RDMA device re-appears on the host or in the target") {
  for (const auto world : {IpoibReappears::in_host, IpoibReappears::in_target}) {
    FakeKernel k = node_with(1, 2);
    k.ipoib_reappears = world;
    const Namespace pod = k.make_namespace(kPod);
    k.set_driver(vf_address(0, 1), std::nullopt).value();
    k.move_rdma(kHost, "mlx5_1", pod).value();
    const bool inside = world == IpoibReappears::in_target;
    CHECK(k.netdevs(pod, kVf).value().size() == (inside ? 1 : 0));
    CHECK(own(k, inside ? pod : kHost).name == (inside ? "ib0" : "ib1"));
  }
}

TEST_CASE("each RDMA device of a function has a netdev of its own and moves by itself") {
  FakeKernel k = node_with(1, 0);
  k.add_vf(kVf, pf_address(0), 0);
  k.function_state(kVf).rdma_count = 2;
  k.function_state(kVf).made_with.value = vf_guid(0, 0);
  k.function_state(kVf).policy = nl::LinkPolicy::automatic;
  k.set_driver(kVf, "mlx5_core").value();
  CHECK(rdma_names(k, kHost) == std::vector<std::string>{"mlx5_1", "mlx5_2"});
  CHECK(k.netdevs(kHost, kVf).value().size() == 2);
  CHECK(k.char_devices(kVf).value().size() == 6);
  k.ipoib_reappears = IpoibReappears::in_target;
  const Namespace pod = k.make_namespace(kPod);
  k.move_rdma(kHost, "mlx5_2", pod).value();
  CHECK(rdma_names(k, kHost) == std::vector<std::string>{"mlx5_1"});
  CHECK(rdma_names(k, pod) == std::vector<std::string>{"mlx5_2"});
  CHECK(k.netdevs(pod, kVf).value().size() == 1);
  CHECK(k.netdevs(kHost, kVf).value().size() == 1);
}

TEST_CASE("on Linux 7 an RDMA device away from home may find its name taken when it comes back") {
  FakeKernel k = node_with(1, 2);
  k.rdma_names_per_namespace = true;
  k.reuses_rdma_names = true;
  const Namespace pod = k.make_namespace(kPod);
  k.move_rdma(kHost, "mlx5_1", pod).value();
  k.set_driver(vf_address(0, 1), std::nullopt).value();
  k.set_driver(vf_address(0, 1), "mlx5_core").value();
  CHECK(k.rdma_devices(kHost, vf_address(0, 1)).value().front().name == "mlx5_1");
  CHECK(k.move_rdma(pod, "mlx5_1", kHost).error().code() == Code::exists);
  CHECK(rdma_names(k, pod) == std::vector<std::string>{"mlx5_1"});
  k.kill_namespace(kPod);
  REQUIRE(rdma_names(k, kHost).size() == 1);
  CHECK(rdma_names(k, kHost).front().starts_with("ibdev"));
}

TEST_CASE("shared RDMA devices are everybody's and stay where they are") {
  FakeKernel k = one_vf_node();
  k.state.rdma_mode = nl::RdmaNetnsMode::shared;
  const Namespace pod = k.make_namespace(kPod);
  CHECK(rdma_names(k, pod) == rdma_names(k, kHost));
  CHECK(k.port(pod, "mlx5_1"));
  CHECK(k.move_rdma(kHost, "mlx5_1", pod).error().code() == Code::unsupported);
  k.move_netdev(kHost, own(k, kHost).index, pod, "net1").value();
  k.kill_namespace(kPod);
  CHECK(own(k, kHost).name == "net1");
  CHECK(rdma_names(k, kHost) == std::vector<std::string>{"mlx5_1"});
}

TEST_CASE("from a namespace without a path devices come back by unbind and bind only") {
  FakeKernel k = one_vf_node();
  k.ipoib_reappears = IpoibReappears::in_target;
  const Namespace pod = k.make_namespace(kPod);
  k.move_rdma(kHost, "mlx5_1", pod).value();
  k.hide_namespace(kPod);
  CHECK_FALSE(k.find_namespace(kPod).value());
  CHECK(k.rdma_devices(pod, kVf).error().code() == Code::not_found);
  CHECK_FALSE(k.char_devices(kVf).value().empty());
  rebind(k);
  CHECK(own(k, kHost).name == "ib1");
}

TEST_CASE("a path that leads to a new namespace leads to the old one no more") {
  FakeKernel k = one_vf_node();
  const Namespace first = k.make_namespace(kPod);
  const Namespace second = k.make_namespace(kPod);
  CHECK(k.find_namespace(kPod).value() == second);
  CHECK(k.netdevs(first, kVf).error().code() == Code::not_found);
}

TEST_CASE("a netdev that is up is renamed since Linux 6.2") {
  FakeKernel k = one_vf_node();
  set_up(k, kHost);
  node::NetdevChange change;
  change.name = "ib7";
  CHECK(k.change_netdev(kHost, own(k, kHost).index, change).error().code() == Code::busy);
  k.renames_while_up = true;
  CHECK(k.change_netdev(kHost, own(k, kHost).index, change));
}

TEST_CASE("an MTU above the broadcast group's is accepted and cut") {
  FakeKernel k = one_vf_node();
  node::NetdevChange change;
  change.mtu = 4092;
  k.change_netdev(kHost, own(k, kHost).index, change).value();
  CHECK(own(k, kHost).mtu == 2044);
}

TEST_CASE("a PF's netdev takes another GUID as its address, and nothing else") {
  FakeKernel k = one_vf_node();
  const node::Netdev pf = k.netdevs(kHost, pf_address(0)).value().front();
  nl::HardwareAddress address = pf.address;
  address.at(3) ^= 1;  // the queue pair
  CHECK(k.set_address("", pf.name, address).error().code() == Code::invalid);
  CHECK(k.set_address("", pf.name, {1, 2, 3, 4, 5, 6}).error().code() == Code::invalid);
  address = pf.address;
  address.at(19) ^= 1;
  CHECK(k.set_address("", pf.name, address));
  CHECK(k.find_netdev(kHost, pf.name).value()->address == address);
  CHECK(k.set_address("", own(k, kHost).name, address).error().code() == Code::unsupported);
}

TEST_CASE("udev renames behind everybody's back") {
  FakeKernel k = one_vf_node();
  k.at_next_wait([](FakeKernel& node) { node.rename_netdev("", "ib1", "ibp59s0v9"); });
  k.wait_for_change(Deadline::in(Duration(1000))).value();
  CHECK(own(k, kHost).name == "ibp59s0v9");
}

// --- the subnet manager

TEST_CASE(
    "the port gets its table when the subnet manager comes by, and the netdev follows index 0") {
  FakeKernel k = one_vf_node();
  k.fabric.pkeys[vf_guid(0, 0)] = {ib::PKey(0x0001), ib::PKey(), ib::PKey(0x8002)};
  CHECK(k.port(kHost, "mlx5_1").value().pkeys.front() == ib::PKey(0x7fff));
  CHECK(k.wait_for_change(Deadline::in(Duration(1000))).value());
  const auto table = k.port(kHost, "mlx5_1").value().pkeys;
  CHECK(ib::text(table) == "0:0x0001 2:0x8002");
  CHECK(table.size() == 8);
  CHECK(own(k, kHost).ipoib->pkey == ib::PKey(0x8001));
}

TEST_CASE("a port is INIT until it is swept, and for ever without a subnet manager") {
  FakeKernel k = one_vf_node();
  k.fabric.sm = false;
  rebind(k);
  CHECK(k.port(kHost, "mlx5_2").value().state == ib::PortState::init);
  CHECK_FALSE(k.wait_for_change(Deadline::in(Duration(1000))).value());
  CHECK(k.port(kHost, "mlx5_2").value().state == ib::PortState::init);
  CHECK(k.port(kHost, "mlx5_2").value().lid == 0);
  k.fabric.sm = true;
  CHECK(k.wait_for_change(Deadline::in(Duration(1000))).value());
  CHECK(k.port(kHost, "mlx5_2").value().state == ib::PortState::active);
}

TEST_CASE("of two ports with one GUID the second stays INIT") {
  FakeKernel k = node_with(1, 2);
  k.set_vf_guids(function(k), vf_guid(0, 1), vf_guid(0, 1)).value();
  rebind(k);
  k.settle();
  CHECK(k.port(kHost, "mlx5_3").value().state == ib::PortState::init);
}

TEST_CASE("a child has carrier while its key is in the table") {
  FakeKernel k = one_vf_node();
  k.add_child("", "ib1", "child", ib::PKey(0x8002));
  k.interface("", "child").up = true;
  k.settle();
  CHECK_FALSE(k.find_netdev(kHost, "child").value()->carrier);
  k.fabric.pkeys[vf_guid(0, 0)] = {ib::PKey(0x7fff), ib::PKey(0x0002)};
  k.settle();
  CHECK(k.find_netdev(kHost, "child").value()->carrier);
}

TEST_CASE("an IPv6 address that somebody else has is told, and stays") {
  FakeKernel k = one_vf_node();
  set_up(k, kHost);
  const ip::Prefix taken = ip::Prefix::parse("fd00::1/64").value();
  k.fabric.taken = {taken.address};
  const Status configured =
      k.configure(kHost, own(k, kHost).index, {{taken}, {}}, Deadline::in(Duration(1000)));
  CHECK(configured.error().code() == Code::exists);
  CHECK(k.addresses(kHost, own(k, kHost).index).value().front().failed);
}

TEST_CASE("announcements reach the neighbours with carrier only") {
  FakeKernel k = one_vf_node();
  set_up(k, kHost);
  const ip::Prefix address = ip::Prefix::parse("10.0.0.1/24").value();
  CHECK(k.announce(kHost, own(k, kHost).index, {address}));
  CHECK(k.announced.empty());
  k.settle();
  CHECK(k.announce(kHost, own(k, kHost).index, {address}));
  CHECK(k.announced == std::vector<Announcement>{{kHost, "ib1", address, own(k, kHost).address}});
}

TEST_CASE("waiting takes no time and ends when nothing is left to happen") {
  FakeKernel k = one_vf_node();
  int seen = 0;
  for (int i = 0; i < 3; ++i) k.at_next_wait([&](FakeKernel&) { ++seen; });
  const Deadline far = Deadline::in(Duration(3600000));
  CHECK(wait_until(k, far, [&]() -> Result<bool> { return seen == 2; }).value());
  CHECK(k.waits() == 2);
  CHECK_FALSE(wait_until(k, far, [&]() -> Result<bool> { return false; }).value());
  CHECK(seen == 3);
}

// --- faults

// Three orders and a question.
Status some_steps(FakeKernel& k) {
  TRY(k.set_vf_policy(function(k), nl::LinkPolicy::disable));
  TRY(k.rdma_netns_mode());
  TRY(k.set_driver(kVf, std::nullopt));
  TRY(k.set_driver(kVf, "mlx5_core"));
  return ok();
}

TEST_CASE("fail_at: one order fails without effect, each in its turn") {
  std::vector<int> done;
  for (int n = 0;; ++n) {
    FakeKernel k = one_vf_node();
    k.fail_at(n);
    const Status status = some_steps(k);
    CHECK(status.ok() != k.struck());
    if (status) break;
    CHECK(status.error().code() == Code::internal);
    CHECK(function(k).driver.has_value() == (n < 2));
    done.push_back(k.orders());
    CHECK(some_steps(k));  // once only
  }
  CHECK(done == std::vector<int>{1, 2, 3});
}

TEST_CASE("questions and waits are counted where all calls are") {
  FakeKernel k = one_vf_node();
  k.fail_at(2, FakeKernel::Count::calls);
  CHECK_FALSE(some_steps(k));
  CHECK(k.trail() == std::vector<std::string>{"set_vf_policy"});
  CHECK(k.calls() == 3);
}

TEST_CASE("fail_after: the order has its effect all the same") {
  FakeKernel k = one_vf_node();
  k.fail_after(1);
  CHECK_FALSE(some_steps(k));
  CHECK_FALSE(function(k).driver);
}

TEST_CASE("fail_from: every later order fails, until the kernel heals") {
  FakeKernel k = one_vf_node();
  k.fail_from(1);
  CHECK_FALSE(some_steps(k));
  CHECK_FALSE(k.set_driver(kVf, std::nullopt));
  CHECK(k.rdma_netns_mode());
  k.heal();
  CHECK(some_steps(k));
}

TEST_CASE("kill_at: the process is gone, the node stays") {
  for (const auto when : {FakeKernel::When::before_effect, FakeKernel::When::after_effect}) {
    FakeKernel k = one_vf_node();
    k.kill_at(1, when);
    CHECK_THROWS_AS((void)some_steps(k), Killed);
    CHECK(function(k).driver.has_value() == (when == FakeKernel::When::before_effect));
    CHECK(k.set_driver(kVf, std::nullopt));
  }
}

TEST_CASE("a kill in a bind or a move leaves a device that joins nothing") {
  FakeKernel k = one_vf_node();
  const auto joins = [&k](const node::Namespace& where) {
    const node::Netdev netdev = k.netdevs(where, kVf)->front();
    REQUIRE(k.change_netdev(where, netdev.index, {.up = true}));
    k.settle();
    return k.netdevs(where, kVf)->front().carrier;
  };
  const auto move = [&k](const node::Namespace& from, const node::Namespace& to) {
    return k.move_rdma(from, k.rdma_devices(from, kVf)->front().name, to);
  };
  k.ipoib_reappears = IpoibReappears::in_target;
  const node::Namespace pod = k.make_namespace("/run/netns/pod");
  CHECK(joins(node::kHost));
  REQUIRE(k.set_driver(kVf, std::nullopt));
  k.kill_at(0, FakeKernel::When::amid_effect);
  CHECK_THROWS_AS((void)k.set_driver(kVf, "mlx5_core"), Killed);
  k.heal();
  CHECK_FALSE(joins(node::kHost));
  REQUIRE(move(node::kHost, pod));  // all its users come again
  CHECK(joins(pod));
  k.kill_at(0, FakeKernel::When::amid_effect);
  CHECK_THROWS_AS((void)move(pod, node::kHost), Killed);
  k.heal();
  CHECK_FALSE(joins(node::kHost));
}

}  // namespace
}  // namespace ibpod::fake
