#include "lib/sysfs/sriov.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sysfs {
namespace {

ib::PciAddress address(const std::string& text) { return ib::PciAddress::parse(text).value(); }

const ib::PciAddress kPf = address("0000:3b:00.0");

class Node {
 public:
  void function(const std::string& name, const std::string& kind) const {
    std::filesystem::create_directories(folder(name));
    attribute(name, "class", kind);
  }
  void attribute(const std::string& name, const std::string& file,
                 const std::string& content) const {
    folder_.write("bus/pci/devices/" + name + "/" + file, content + "\n");
  }
  Path folder(const std::string& name) const { return folder_.path() / "bus/pci/devices" / name; }
  Sysfs sysfs() const { return Sysfs::open(folder_.path()).value(); }
  std::string content(const std::string& file) const {
    return sysfs().read(Path("bus/pci/devices") / kPf.text() / file).value();
  }

 private:
  TempFolder folder_;
};

TEST_CASE("a PF is a network adapter or has an RDMA device, and is no VF") {
  const Node node;
  node.function("0000:3b:00.0", "0x020700");
  node.function("0000:3b:00.1", "0x020700");
  std::filesystem::create_directory_symlink("../0000:3b:00.0", node.folder("0000:3b:00.1/physfn"));
  node.function("0000:3c:00.0", "0x010802");
  std::filesystem::create_directories(node.folder("0000:3c:00.0/infiniband/mlx5_1"));
  node.function("0000:3d:00.0", "0x010802");
  node.function("0000:04:00.0", "0x020000");
  const std::vector<ib::PciAddress> all{address("0000:04:00.0"), kPf, address("0000:3c:00.0")};
  CHECK(physical_functions(node.sysfs()).value() == all);
}

TEST_CASE("a function's PCI ID is read") {
  const Node node;
  node.function(kPf.text(), "0x020700");
  node.attribute(kPf.text(), "vendor", "0x15b3");
  node.attribute(kPf.text(), "device", "0x101b");
  CHECK(pci_id(node.sysfs(), kPf).value() == PciId{0x15b3, 0x101b});
  node.attribute(kPf.text(), "device", "0x101b5");
  CHECK(pci_id(node.sysfs(), kPf).error().text() ==
        "bus/pci/devices/0000:3b:00.0/device: \"0x101b5\" is not a number in the expected range");
}

TEST_CASE("without the capability there is no VF to make, and nothing to switch") {
  const Node node;
  node.function(kPf.text(), "0x020700");
  CHECK(total_vfs(node.sysfs(), kPf).value() == 0);
  CHECK(autoprobe(node.sysfs(), kPf).value());
  CHECK(set_vf_count(node.sysfs(), kPf, 1).error().code() == Code::not_found);
  CHECK(set_autoprobe(node.sysfs(), kPf, false).error().code() == Code::not_found);
}

TEST_CASE("the number of VFs and the switch are written as the kernel reads them") {
  const Node node;
  node.function(kPf.text(), "0x020700");
  node.attribute(kPf.text(), "sriov_totalvfs", "127");
  node.attribute(kPf.text(), "sriov_numvfs", "0");
  node.attribute(kPf.text(), "sriov_drivers_autoprobe", "1");
  CHECK(total_vfs(node.sysfs(), kPf).value() == 127);
  REQUIRE(set_autoprobe(node.sysfs(), kPf, false));
  CHECK(node.content("sriov_drivers_autoprobe").starts_with("0"));
  REQUIRE(set_vf_count(node.sysfs(), kPf, 16));
  CHECK(node.content("sriov_numvfs").starts_with("16"));
  node.attribute(kPf.text(), "sriov_drivers_autoprobe", "0");
  CHECK_FALSE(autoprobe(node.sysfs(), kPf).value());
}

}  // namespace
}  // namespace ibpod::sysfs
