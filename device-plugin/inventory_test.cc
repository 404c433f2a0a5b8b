#include "device-plugin/inventory.h"

#include "device-plugin/health.h"
#include "lib/node/child.h"
#include "tests/support/fake_sysfs.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

using Devices = std::vector<Device>;

const node::Namespace kPod{"/run/netns/pod", {4, 26, 7}};

// A PF with two VFs, all as mlx5 makes them; the sysfs of a pod's namespace; no records yet.
struct Node {
  explicit Node(uint32_t device_class = 0x020700) : tree(4, device_class) {}
  TempFolder state;
  node::Records records{state.path()};
  fake::FakeSysfs tree, pod_tree;
  node::HostNetwork network;
  ib::PciAddress pf = tree.add_pf();
  ib::PciAddress vf0 = tree.add_vf(pf);
  ib::PciAddress vf1 = tree.add_vf(pf);

  Inventory inventory;
  PkeyTables tables = PkeyTables::read;

  // Reads everything, with a new inventory.
  Devices read() { return try_read().value(); }
  Result<Devices> try_read() {
    Inventory nothing_known;
    return try_read(nothing_known, {});
  }
  // Reads with the inventory that has read before.
  Devices read(const ChangeSet& changed) { return try_read(inventory, changed).value(); }
  Result<Devices> try_read(Inventory& reader, const ChangeSet& changed) {
    const sysfs::Sysfs sysfs = tree.open();
    return reader.read({sysfs, records, network,
                        [this](const node::Namespace& pod) { return open_pod(pod); }, tables},
                       changed);
  }
  Device at(const ib::PciAddress& address) { return find(read(), address); }
  static Device find(const Devices& devices, const ib::PciAddress& address) {
    for (const Device& device : devices) {
      if (device.address == address) return device;
    }
    FAIL(address.text() << " is not in the inventory");
    return {};
  }

  // Runs while a pod's sysfs is opened.
  std::function<void()> meanwhile = [] {};
  Result<sysfs::Sysfs> open_pod(const node::Namespace& pod) const {
    meanwhile();
    if (pod == kPod) return pod_tree.open();
    return Error(Code::not_found, pod.path.string() + ": the namespace is gone");
  }

  node::Record record_of(const ib::PciAddress& vf) const {
    node::Record record;
    record.device = vf;
    record.container_id = "c1";
    record.ifname = "net1";
    record.pod = {"default", "trainer-0", "8f0c"};
    record.netns = kPod;
    return record;
  }
  void attach(const ib::PciAddress& vf) {
    REQUIRE(records.write(record_of(vf)).ok());
    tree.move_rdma(vf, pod_tree);
  }
  void add_link(const std::string& name, int index, uint16_t type = 32) {
    nl::Link link;
    link.index = nl::IfIndex{index};
    link.name = name;
    link.type = type;
    network.links.push_back(link);
  }
};

TEST_CASE("a PF and its VFs are read with all that sysfs tells of them") {
  Node node;
  node.tree.set(node.pf, "acpi_index", "3");
  const Devices devices = node.read();
  REQUIRE(devices.size() == 3);

  Device pf;
  pf.address = node.pf;
  pf.vendor = "15b3";
  pf.device_id = "101b";
  pf.driver = "mlx5_core";
  pf.pf_name = "ib0";
  pf.vfs = 2;
  pf.link_type = "infiniband";
  pf.numa = 0;
  pf.pcie_root = "pci0000:10";
  pf.acpi_index = 3;
  pf.rail = 0;
  const ib::Guid guid(0xb8cef60300010000);
  const ib::Port port{
      ib::PortState::active, 0x1f, guid, {ib::PKey(0x7fff), ib::PKey(0x8001), {}, {}}};
  pf.rdma = {{"mlx5_0", guid, {port}}};
  pf.char_devices = {"issm0", "umad0", "uverbs0"};
  pf.netdevs = {"ib0"};
  CHECK(devices[0] == pf);

  const Device& vf = devices[2];
  CHECK(vf.address == node.vf1);
  CHECK(vf.pf == node.pf);
  CHECK(vf.pf_name == "ib0");
  CHECK(vf.vf == 1);
  CHECK(vf.rail == 0);
  CHECK(vf.rdma[0].name == "mlx5_2");
  CHECK(vf.rdma[0].node_guid != vf.rdma[0].ports[0].guid);
  CHECK(vf.char_devices == std::vector<std::string>{"issm2", "umad2", "uverbs2"});
}

TEST_CASE("rails are the InfiniBand PFs in the order of their addresses; VFs are on their PF's") {
  Node node;
  const ib::PciAddress second = node.tree.add_pf();
  const ib::PciAddress vf = node.tree.add_vf(second);
  node.tree.add_function("0000:01:00.0", 0x020000);
  const Devices devices = node.read();
  CHECK(devices.front().address.text() == "0000:01:00.0");
  CHECK(!devices.front().rail);
  CHECK(Node::find(devices, node.vf1).rail == 0);
  CHECK(Node::find(devices, second).rail == 1);
  CHECK(Node::find(devices, vf).rail == 1);
  CHECK(Node::find(devices, vf).numa == 1);
  CHECK(Node::find(devices, vf).pcie_root == "pci0000:20");
}

TEST_CASE("RDMA devices on functions of any class count, and so do their VFs without a driver") {
  Node node(0x010802);
  node.tree.add_function("0000:00:1f.0", 0x010601);
  node.tree.unbind(node.vf1);
  const Devices devices = node.read();
  REQUIRE(devices.size() == 3);
  CHECK(devices[2].link_type == "infiniband");
  CHECK(!devices[2].driver);
  CHECK(devices[2].vf == 1);
}

TEST_CASE("without ib_ipoib there is no interface, and nothing else is missing") {
  Node node;
  const Devices before = node.read();
  for (const Device& device : before) node.tree.remove_netdev(device.address);
  for (const Device& device : node.read()) {
    CHECK(device.netdevs.empty());
    CHECK(device.pf_name.empty());
    CHECK(device.link_type == "infiniband");
    CHECK(evaluate_health(device, {}, nl::RdmaNetnsMode::exclusive).is_healthy());
  }
}

TEST_CASE("the PF's name is its first interface's, not that of one which came later") {
  Node node;
  node.tree.write(node.tree.home(node.pf) / "net/a_later_one/type", "32");
  node.add_link("ib0", 4);
  node.add_link("a_later_one", 9);
  CHECK(node.at(node.vf0).pf_name == "ib0");
}

TEST_CASE("a VF in a pod is looked at where it is") {
  Node node;
  const Device before = node.at(node.vf0);
  node.attach(node.vf0);
  Device expected = before;
  expected.netdevs.clear();
  expected.attachment = "pod default/trainer-0 (net1)";
  CHECK(node.at(node.vf0) == expected);
  CHECK(node.at(node.vf1).attachment.empty());
}

TEST_CASE("a VF in a pod that shares its RDMA device is looked at on the host") {
  Node node;
  REQUIRE(node.records.write(node.record_of(node.vf0)).ok());
  node.meanwhile = [] { FAIL("the pod's sysfs was opened"); };
  const Device vf = node.at(node.vf0);
  CHECK(vf.attachment == "pod default/trainer-0 (net1)");
  CHECK(vf.rdma.size() == 1);
  CHECK(vf.rdma_error.empty());
}

TEST_CASE("what cannot be seen of a VF in a pod is said to be so, and it stays healthy") {
  Node node;
  node::Record record = node.record_of(node.vf0);
  record.netns.path = "/run/netns/gone";
  REQUIRE(node.records.write(record).ok());
  node.tree.move_rdma(node.vf0, node.pod_tree);
  const Device vf = node.at(node.vf0);
  CHECK(vf.rdma_error == "/run/netns/gone: the namespace is gone");
  CHECK(vf.rdma.empty());
  CHECK(vf.char_devices.size() == 3);
  CHECK(vf.link_type == "infiniband");
  CHECK(vf.rail == 0);
  CHECK(evaluate_health(vf, {}, nl::RdmaNetnsMode::exclusive).is_healthy());
}

TEST_CASE("a VF that was moved without a record is not available") {
  Node node;
  node.tree.move_rdma(node.vf0, node.pod_tree);
  const Device vf = node.at(node.vf0);
  CHECK(vf.rdma_error == "they are in a namespace that no record names");
  CHECK(evaluate_health(vf, {}, nl::RdmaNetnsMode::exclusive).reason ==
        UnhealthyReason::no_rdma_device);
}

TEST_CASE("a record that cannot be read puts its VF into quarantine") {
  Node node;
  REQUIRE(node.records.write(node.record_of(node.vf0)).ok());
  for (const char* text : {"{", R"({"version": 3})"}) {
    CAPTURE(text);
    node.state.write("attachments/" + node.vf0.text() + "/c1:net1.json", text);
    const Device vf = node.at(node.vf0);
    CHECK(vf.quarantine.find("/attachments/0000:11:00.1/c1:net1.json: ") != std::string::npos);
    CHECK(vf.attachment.empty());
    CHECK(evaluate_health(vf, {}, nl::RdmaNetnsMode::exclusive).reason ==
          UnhealthyReason::quarantine);
  }
}

TEST_CASE("pods' IPoIB children are a need of the function that they are on, and no attachment") {
  Node node;
  node::Record record = node.record_of(node.pf);
  record.child.emplace();
  record.child->link = node::child_link("c1", "net1");
  REQUIRE(node.records.write(record).ok());
  const Device pf = node.at(node.pf);
  CHECK(pf.attachment.empty());
  CHECK(pf.host_use ==
        "pod default/trainer-0 (net1) has the IPoIB child " + record.child->link + " on it");
  CHECK(node.at(node.vf0).host_use.empty());
}

TEST_CASE("an address on the PF keeps the PF for the host, and none of its VFs") {
  Node node;
  node.add_link("ib0", 4);
  node.add_link("ib1", 5);
  node.network.addresses[nl::IfIndex{4}] = {ip::Prefix::parse("10.0.0.5/24").value()};
  CHECK(node.at(node.pf).host_use == "ib0 has the address 10.0.0.5/24");
  CHECK(node.at(node.vf0).host_use.empty());
  node.network.addresses[nl::IfIndex{5}] = {ip::Prefix::parse("10.0.1.5/24").value()};
  CHECK(node.at(node.vf0).host_use == "ib1 has the address 10.0.1.5/24");
}

TEST_CASE("a function with mlx5 and smi devices has the one with verbs first") {
  Node node;
  node.tree.add_smi(node.pf, "a_smi1");
  const Device pf = node.at(node.pf);
  REQUIRE(pf.rdma.size() == 2);
  CHECK(pf.rdma[0].name == "mlx5_0");
  CHECK(pf.rdma[0].verbs);
  CHECK(pf.rdma[1].name == "a_smi1");
  CHECK_FALSE(pf.rdma[1].verbs);
  CHECK(pf.char_devices == std::vector<std::string>{"issm0", "issm3", "umad0", "umad3", "uverbs0"});
}

TEST_CASE("every port of a device is read, and one that cannot be is unknown") {
  Node node;
  node.tree.add_port(node.pf, 2);
  node.tree.set_port(node.pf, "state", "whatever");
  const Device pf = node.at(node.pf);
  REQUIRE(pf.rdma[0].ports.size() == 2);
  CHECK(pf.rdma[0].ports[0] == ib::Port());
  CHECK(pf.rdma[0].ports[1].state == ib::PortState::active);
  CHECK(pf.rdma_error.empty());
  CHECK(evaluate_health(pf, {}, nl::RdmaNetnsMode::exclusive).is_healthy());
}

TEST_CASE("a function of which something makes no sense harms no other") {
  Node node;
  node.tree.set(node.vf0, "numa_node", "whatever");
  const Devices devices = node.read();
  REQUIRE(devices.size() == 3);
  CHECK(devices[1].rdma_error == "bus/pci/devices/0000:11:00.1/numa_node contains \"whatever\"");
  CHECK(devices[2].rdma_error.empty());
  CHECK(!evaluate_health(devices[1], {}, nl::RdmaNetnsMode::exclusive).is_healthy());
}

TEST_CASE("a function that goes while the inventory is read is left out") {
  for (const bool own : {true, false}) {
    CAPTURE(own);
    Node node;
    node.attach(node.vf0);
    const ib::PciAddress going = own ? node.vf0 : node.vf1;
    node.meanwhile = [&] { node.tree.vanish(going); };
    const Devices devices = node.read();
    CHECK(devices.size() == 2);
    for (const Device& device : devices) CHECK(device.address != going);
  }
}

TEST_CASE("VFs that are being made or removed are an error that passes") {
  Node node;
  std::filesystem::rename(node.tree.root() / node.tree.home(node.pf) / "virtfn1",
                          node.tree.root() / node.tree.home(node.pf) / "virtfn7");
  std::filesystem::remove(node.tree.root() / node.tree.home(node.pf) / "virtfn7");
  CHECK(node.read().size() == 3);  // it is there all the same, whatever its PF says yet
  std::filesystem::create_symlink("nowhere",
                                  node.tree.root() / node.tree.home(node.pf) / "virtfn1");
  CHECK(node.try_read().error().code() == Code::unavailable);
}

std::string table_of(const Device& device) { return ib::text(device.rdma[0].ports[0].pkeys); }

TEST_CASE("the P_Key table of a port that looks the same is read again with the ports only") {
  Node node;
  const ChangeSet event{.functions = {node.vf0}};
  node.read(event);
  node.tree.set_port(node.vf0, "pkeys/1", "0x8002");
  CHECK(table_of(node.read(event)[1]) == "0:0x7fff 1:0x8001");
  CHECK(table_of(node.read({.ports = true})[1]) == "0:0x7fff 1:0x8002");
  node.tree.set_port(node.vf0, "pkeys/1", "0x8003");
  node.tree.set_port(node.vf0, "lid", "0x20");
  CHECK(table_of(node.read(event)[1]) == "0:0x7fff 1:0x8003");
}

TEST_CASE("P_Key tables are not read before a caller asks for them") {
  Node node;
  const auto without = [](const Devices& devices) {
    return std::count_if(devices.begin(), devices.end(), [](const Device& device) {
      return device.rdma[0].ports[0].pkeys.empty();
    });
  };
  node.tables = PkeyTables::skip;
  CHECK(without(node.read(ChangeSet())) == 3);
  CHECK(without(node.read({.ports = true})) == 3);
  node.tables = PkeyTables::read;
  CHECK(without(node.read({.ports = true})) == 0);
}

TEST_CASE("a node without any such function, and one whose sysfs has no PCI, has an empty one") {
  TempFolder state, empty;
  const node::Records records{state.path()};
  const node::HostNetwork network;
  const sysfs::Sysfs sysfs = sysfs::Sysfs::open(empty.path()).value();
  CHECK(Inventory().read({sysfs, records, network, {}}, {.everything = true})->empty());
}

TEST_CASE("whatever ails a VF is seen in the next inventory, and so is its recovery") {
  const struct {
    const char* what;
    std::function<void(Node&)> fall, rise;
    UnhealthyReason ailment;
  } cases[] = {
      {"driver unbound", [](Node& n) { n.tree.unbind(n.vf0); }, [](Node& n) { n.tree.bind(n.vf0); },
       UnhealthyReason::no_driver},
      {"port down", [](Node& n) { n.tree.set_port(n.vf0, "state", "1: DOWN"); },
       [](Node& n) { n.tree.set_port(n.vf0, "state", "4: ACTIVE"); },
       UnhealthyReason::port_not_active},
      {"PF down", [](Node& n) { n.tree.set_port(n.pf, "state", "1: DOWN"); },
       [](Node& n) { n.tree.set_port(n.pf, "state", "4: ACTIVE"); }, UnhealthyReason::pf_down},
      {"port GUID zero",
       [](Node& n) { n.tree.set_port(n.vf0, "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0000"); },
       [](Node& n) { n.tree.set_port(n.vf0, "gids/0", "fe80:0000:0000:0000:b8ce:f603:0001:0001"); },
       UnhealthyReason::no_guid},
      {"moved away", [](Node& n) { n.tree.move_rdma(n.vf0, n.pod_tree); },
       [](Node& n) {
         n.tree.unbind(n.vf0);
         n.tree.bind(n.vf0);
       },
       UnhealthyReason::no_rdma_device},
      {"record damaged",
       [](Node& n) {
         std::filesystem::create_directories(n.state.path() / "attachments" / n.vf0.text());
         n.state.write("attachments/" + n.vf0.text() + "/c1:net1.json", "{");
       },
       [](Node& n) { std::filesystem::remove_all(n.state.path() / "attachments" / n.vf0.text()); },
       UnhealthyReason::quarantine},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    Node node;
    CHECK(evaluate_health(node.at(node.vf0), {}, nl::RdmaNetnsMode::exclusive).is_healthy());
    one.fall(node);
    CHECK(evaluate_health(node.at(node.vf0), {}, nl::RdmaNetnsMode::exclusive).reason ==
          one.ailment);
    one.rise(node);
    CHECK(evaluate_health(node.at(node.vf0), {}, nl::RdmaNetnsMode::exclusive).is_healthy());
  }
}

TEST_CASE("a VF under vfio-pci is known by its PF and its IOMMU group") {
  Node node;
  node.tree.unbind(node.vf0);
  node.tree.bind(node.vf0, "vfio-pci");
  const Device vf = node.at(node.vf0);
  CHECK(vf.driver == "vfio-pci");
  CHECK(vf.iommu_group.has_value());
  CHECK(vf.link_type == "infiniband");
  CHECK(vf.rdma_error.empty());
  CHECK(evaluate_health(vf, {}, nl::RdmaNetnsMode::shared).is_healthy());
}

}  // namespace
}  // namespace ibpod::device_plugin
