// A reading after an event finds the same as a reading of everything.
#include "device-plugin/inventory.h"
#include "tests/support/fake_sysfs.h"

#include <functional>
#include <random>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

using Devices = std::vector<Device>;

const node::Namespace kPod{"/run/netns/pod", {4, 26, 7}};

// Three PFs with VFs, and pods on them. What happens to it says what an event would be about.
class Node {
 public:
  Node() {
    for (int i = 0; i < 3; ++i) {
      pfs_.push_back(tree.add_pf());
      for (int vf = 0; vf < 3; ++vf) vfs_.push_back(tree.add_vf(pfs_.back()));
    }
  }

  fake::FakeSysfs tree{2}, pod_tree{2};
  TempFolder state;
  node::Records records{state.path()};
  node::HostNetwork network;
  Inventory inventory;

  const ib::PciAddress& pf(size_t number) const { return pfs_[number % pfs_.size()]; }
  const ib::PciAddress& vf(size_t number) const { return vfs_[number % vfs_.size()]; }
  size_t vfs() const { return vfs_.size(); }

  Result<Devices> read(Inventory& reader, const ChangeSet& changed) {
    const sysfs::Sysfs sysfs = tree.open();
    const auto open_pod = [this](const node::Namespace& pod) -> Result<sysfs::Sysfs> {
      if (pod == kPod) return pod_tree.open();
      return Error(Code::not_found, "the namespace is gone");
    };
    return reader.read({sysfs, records, network, open_pod}, changed);
  }
  // The devices that are found after an event, which have to be all that there are.
  Devices read(const ChangeSet& changed) {
    Inventory nothing_known;
    const Devices whole = read(nothing_known, {}).value();
    const Devices found = read(inventory, changed).value();
    CHECK(describe_changes(whole, found) == std::vector<std::string>());
    CHECK(found == whole);
    return found;
  }

  ChangeSet vanish(size_t number) {
    const ib::PciAddress gone = vf(number);
    tree.vanish(gone);
    std::erase(vfs_, gone);
    return {.functions = {gone}};
  }
  ChangeSet come(size_t number) {
    vfs_.push_back(tree.add_vf(pf(number)));
    return {.functions = {vfs_.back()}};
  }
  ChangeSet rebind(size_t number) {
    tree.unbind(vf(number));
    tree.bind(vf(number), number % 3 == 0 ? "vfio-pci" : "mlx5_core");
    return {.functions = {vf(number)}};
  }
  // By the name of the interface, as a link says it.
  ChangeSet flip_link(const ib::PciAddress& function, bool up) {
    tree.set_port(function, "state", up ? "4: ACTIVE" : "1: DOWN");
    return {.netdevs = {tree.netdev(function)}};
  }
  ChangeSet attach(size_t number) {
    REQUIRE(records.write(record_of(vf(number))).ok());
    const std::string rdma = tree.rdma_device(vf(number));
    tree.move_rdma(vf(number), pod_tree);
    return {.rdma_devices = {rdma}};
  }
  ChangeSet detach(size_t number) {
    REQUIRE(records.remove(node::name_of(record_of(vf(number)))).ok());
    tree.unbind(vf(number));
    tree.bind(vf(number));
    return {.functions = {vf(number)}};
  }
  static node::Record record_of(const ib::PciAddress& vf) {
    node::Record record;
    record.device = vf;
    record.container_id = "c1";
    record.ifname = "net1";
    record.netns = kPod;
    return record;
  }

 private:
  std::vector<ib::PciAddress> pfs_, vfs_;
};

const Device& find(const Devices& devices, const ib::PciAddress& address) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const Device& device) { return device.address == address; });
  REQUIRE(found != devices.end());
  return *found;
}

TEST_CASE("a device event shows what has changed of the device, and nothing of others is read") {
  Node node;
  const Devices before = node.read(ChangeSet());
  node.tree.set_port(node.vf(0), "state", "1: DOWN");
  node.tree.set_port(node.vf(4), "state", "1: DOWN");
  const Devices after = node.read(node.inventory, {.functions = {node.vf(0)}}).value();
  CHECK(describe_changes(before, after) ==
        std::vector<std::string>{node.vf(0).text() + ": port 1 of mlx5_1: ACTIVE -> DOWN"});
  CHECK(node.read(node.inventory, {}).value() == after);
  CHECK(describe_changes(after, node.read({.ports = true})).size() == 1);
}

TEST_CASE("an event about a PF shows what has changed of its VFs") {
  Node node;
  node.read(ChangeSet());
  node.tree.set_port(node.pf(1), "state", "1: DOWN");
  node.tree.set_port(node.vf(4), "lid", "0x99");
  const Devices after = node.read({.functions = {node.pf(1)}});
  CHECK(!find(after, node.vf(3)).pf_up);
  CHECK(find(after, node.vf(4)).rdma[0].ports[0].lid == 0x99);
}

TEST_CASE("a function that comes or goes changes what its PF and the other VFs say") {
  Node node;
  node.read(ChangeSet());
  const Devices less = node.read(node.vanish(0));
  CHECK(less.size() == 11);
  CHECK(find(less, node.vf(0)).vf == 0);
  CHECK(find(less, node.pf(0)).vfs == 2);
  CHECK(find(node.read(node.come(0)), node.pf(0)).vfs == 3);
  const Devices none = node.read({.functions = {*ib::PciAddress::parse("0000:99:00.0")}});
  CHECK(none.size() == 12);
}

TEST_CASE("a hot-plugged PF comes with its VFs, and goes with them") {
  Node node;
  node.read(ChangeSet());
  const ib::PciAddress pf = node.tree.add_pf();
  const ib::PciAddress vf = node.tree.add_vf(pf);
  CHECK(node.read({.functions = {pf}}).size() == 14);
  node.tree.vanish(vf);
  node.tree.vanish(pf);
  CHECK(node.read({.functions = {pf}}).size() == 12);
}

TEST_CASE("an interface without a function, and a rename, are no loss") {
  Node node;
  node.read(ChangeSet());
  CHECK(node.read({.netdevs = {"veth0", "lo"}, .rdma_devices = {"rxe0"}}).size() == 12);
  const std::string was = node.tree.netdev(node.vf(2));
  node.tree.remove_netdev(node.vf(2));
  CHECK(find(node.read({.netdevs = {was}}), node.vf(2)).netdevs.empty());
}

TEST_CASE("what could not be looked at is looked at again behind whatever event") {
  Node node;
  node.tree.set(node.vf(0), "numa_node", "whatever");
  CHECK(!find(node.read(ChangeSet()), node.vf(0)).rdma_error.empty());
  node.tree.set(node.vf(0), "numa_node", "1");
  CHECK(find(node.read(ChangeSet()), node.vf(0)).rdma_error.empty());
}

TEST_CASE("what has changed is not forgotten by a reading that fails") {
  Node node;
  node.read(ChangeSet());
  const Path dangling = node.tree.root() / node.tree.home(node.pf(0)) / "virtfn9";
  std::filesystem::create_symlink("nowhere", dangling);
  const ChangeSet change = node.flip_link(node.pf(0), false);
  CHECK(node.read(node.inventory, change).error().code() == Code::unavailable);
  std::filesystem::remove(dangling);
  CHECK(!find(node.read(ChangeSet()), node.vf(0)).pf_up);
}

size_t on_numa_5(const Devices& devices) {
  return static_cast<size_t>(std::count_if(devices.begin(), devices.end(),
                                           [](const Device& one) { return one.numa == 5; }));
}

TEST_CASE("with the ports a part of the functions is read again, each in its turn") {
  Node node;
  for (int more = 0; more < 60; ++more) node.tree.add_vf(node.pf(1));
  const Devices before = node.read(ChangeSet());
  for (const Device& device : before) node.tree.set(device.address, "numa_node", "5");
  // Two of them, and the PF of a VF.
  CHECK(before.size() == 72);
  size_t seen = 0;
  for (size_t turn = 1; turn <= Inventory::kReadsPerCycle; ++turn) {
    const size_t now = on_numa_5(node.read(node.inventory, {.ports = true}).value());
    CHECK(now <= seen + 3);
    seen = now;
  }
  CHECK(seen == before.size());
}

TEST_CASE("a turn that fails is taken again") {
  Node node;
  const Devices before = node.read(ChangeSet());
  for (const Device& device : before) node.tree.set(device.address, "numa_node", "5");
  const Path dangling = node.tree.root() / node.tree.home(node.pf(0)) / "virtfn9";
  std::filesystem::create_symlink("nowhere", dangling);
  CHECK_FALSE(node.read(node.inventory, {.ports = true}));
  std::filesystem::remove(dangling);
  const Devices after = node.read(node.inventory, {}).value();
  CHECK(after.front().numa == 5);
}

TEST_CASE("a device's path tells its function") {
  const struct {
    const char* path;
    std::set<std::string> functions;
  } cases[] = {
      {"/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.2/net/ib0", {"0000:3b:00.2"}},
      {"/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.2", {"0000:3b:00.2"}},
      {"/devices/virtual/net/lo", {}},
      {"/module/mlx5_ib", {}},
      {"/bus/pci/drivers/mlx5_core", {}},
      {"", {}},
  };
  for (const auto& one : cases) {
    CAPTURE(one.path);
    ChangeSet changed;
    add_device_path(one.path, changed);
    std::set<std::string> found;
    for (const auto& function : changed.functions) found.insert(function.text());
    CHECK(found == one.functions);
  }
}

// Each step does something to the node and says of it what the kernel's events say.
TEST_CASE("whatever happens in whatever order, in bursts, nothing is missed") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Node node;
    std::mt19937 random(seed);
    const auto any = [&](size_t below) { return static_cast<size_t>(random() % below); };
    std::optional<size_t> attached;
    std::set<ib::PciAddress> been;  // in a pod: its sysfs shows a device once
    node.read(ChangeSet());
    for (int burst = 0; burst < 12; ++burst) {
      ChangeSet burst_changed;
      const size_t events = any(4);
      for (size_t event = 0; event < events; ++event) {
        const size_t number = any(node.vfs());
        const bool free =
            node.tree.open().exists("bus/pci/devices/" + node.vf(number).text() + "/infiniband");
        const size_t what = any(6);
        if (what == 0 && !attached) burst_changed.add(node.vanish(number));
        if (what == 1) burst_changed.add(node.come(number));
        if (what == 2 && number != attached) burst_changed.add(node.rebind(number));
        if (what == 3 && free) burst_changed.add(node.flip_link(node.vf(number), any(2) == 0));
        if (what == 4) burst_changed.add(node.flip_link(node.pf(number), any(2) == 0));
        if (what == 5 && attached) {
          burst_changed.add(node.detach(*attached));
          attached.reset();
        } else if (what == 5 && free && been.insert(node.vf(number)).second) {
          burst_changed.add(node.attach(number));
          attached = number;
        }
      }
      node.read(burst_changed);
    }
  }
}

}  // namespace
}  // namespace ibpod::device_plugin
