#include "lib/sysfs/topology.h"

#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"
#include "tests/support/fake_sysfs.h"

#include <doctest/doctest.h>

namespace ibpod::sysfs {
namespace {

struct Node {
  fake::FakeSysfs tree;
  ib::PciAddress pf = tree.add_pf();
  ib::PciAddress vf = tree.add_vf(pf);
  Sysfs sysfs = tree.open();
};

TEST_CASE("all functions are listed in order; names that are no addresses are left out") {
  Node node;
  node.tree.write("bus/pci/devices/10000:00:00.0/class", "0x010802");
  const ib::PciAddress other = node.tree.add_function("0000:00:1f.2", 0x010601);
  CHECK(*functions(node.sysfs) == std::vector{other, node.pf, node.vf});
}

TEST_CASE("a function says what it is and where it sits") {
  Node node;
  CHECK(*pci_ids(node.sysfs, node.pf) == PciIds{"15b3", "101b", 0x020700});
  CHECK(*pcie_root(node.sysfs, node.pf) == "pci0000:10");
  CHECK(*pcie_root(node.sysfs, node.vf) == "pci0000:10");
  CHECK(*numa_node(node.sysfs, node.pf) == 0);
  CHECK(!*acpi_index(node.sysfs, node.pf));
  CHECK(!*iommu_group(node.sysfs, node.vf));
  node.tree.set(node.pf, "acpi_index", "7");
  CHECK(*acpi_index(node.sysfs, node.pf) == 7);
  node.tree.unbind(node.vf);
  node.tree.bind(node.vf, "vfio-pci");
  CHECK(*iommu_group(node.sysfs, node.vf) == 2);
}

TEST_CASE("a modalias that is cut or of another bus is none") {
  const std::string whole = "pci:v000015B3d0000101Bsv000015B3sd00000007bc02sc07i00";
  Node node;
  for (size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    node.tree.set(node.pf, "modalias", whole.substr(0, length));
    CHECK(!pci_ids(node.sysfs, node.pf).ok());
  }
  node.tree.set(node.pf, "modalias", "usb:v15B3p101Bd0000");
  CHECK(pci_ids(node.sysfs, node.pf).error().code() == Code::internal);
}

TEST_CASE("a NUMA node of -1, and a kernel without NUMA, say nothing") {
  Node node;
  node.tree.set(node.pf, "numa_node", "-1");
  CHECK(!*numa_node(node.sysfs, node.pf));
  std::filesystem::remove(node.tree.root() / node.tree.home(node.vf) / "numa_node");
  CHECK(!*numa_node(node.sysfs, node.vf));
}

TEST_CASE("the root complex is found behind a bridge of the platform too") {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "bus/pci/devices");
  std::filesystem::create_directory_symlink(
      "../../../devices/platform/soc/30000000.pcie/pci0005:00/0005:01:00.0",
      folder.path() / "bus/pci/devices/0005:01:00.0");
  const Sysfs sysfs = Sysfs::open(folder.path()).value();
  const ib::PciAddress function = ib::PciAddress::parse("0005:01:00.0").value();
  CHECK(*pcie_root(sysfs, function) == "pci0005:00");
  CHECK(*pcie_root(sysfs, ib::PciAddress::parse("0005:02:00.0").value()) == "");
}

TEST_CASE("a file that holds something else is named with what it holds") {
  Node node;
  for (const char* file : {"modalias", "numa_node", "acpi_index"}) {
    CAPTURE(file);
    Node one;
    one.tree.set(one.pf, file, "whatever");
    const bool understood = pci_ids(one.sysfs, one.pf).ok() && numa_node(one.sysfs, one.pf).ok() &&
                            acpi_index(one.sysfs, one.pf).ok();
    CHECK(!understood);
  }
  node.tree.set(node.pf, "numa_node", "x");
  CHECK(numa_node(node.sysfs, node.pf).error().text() ==
        "bus/pci/devices/0000:11:00.0/numa_node contains \"x\"");
}

TEST_CASE("a function that is not there is not found") {
  const Node node;
  const ib::PciAddress nowhere = ib::PciAddress::parse("0000:ff:00.0").value();
  CHECK(pci_ids(node.sysfs, nowhere).error().code() == Code::not_found);
}

TEST_CASE("ports, link layer and the device of a uverbs node are told") {
  Node node;
  const std::string device = node.tree.rdma_device(node.pf);
  node.tree.add_port(node.pf, 2);
  CHECK(*ports(node.sysfs, device) == std::vector<unsigned>{1, 2});
  CHECK(ports(node.sysfs, "mlx5_9")->empty());
  CHECK(*link_layer(node.sysfs, device, 1) == LinkLayer::infiniband);
  node.tree.set_port(node.pf, "link_layer", "Ethernet");
  CHECK(*link_layer(node.sysfs, device, 1) == LinkLayer::ethernet);
  CHECK(*device_of_uverbs(node.sysfs, "uverbs0") == device);
  CHECK(device_of_uverbs(node.sysfs, "../x").error().code() == Code::invalid);
}

TEST_CASE("a port is read without its P_Key table, and the table without the rest") {
  const Node node;
  const std::string device = node.tree.rdma_device(node.vf);
  const ib::Port whole = port(node.sysfs, device, 1).value();
  ib::Port bare = port_without_pkeys(node.sysfs, device, 1).value();
  CHECK(bare.pkeys.empty());
  bare.pkeys = pkeys(node.sysfs, device, 1).value();
  CHECK(bare == whole);
  CHECK(ib::text(whole.pkeys) == "0:0x7fff 1:0x8001");
}

}  // namespace
}  // namespace ibpod::sysfs
