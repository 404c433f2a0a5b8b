#include "lib/sysfs/pci.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sysfs {
namespace {

ib::PciAddress address(const std::string& text) { return ib::PciAddress::parse(text).value(); }

const ib::PciAddress kPf = address("0000:01:00.0");

// A PF with VFs 0 to 11, as the kernel lays it out: functions below devices/, links to them.
class Node {
 public:
  // The addresses of VFs that follow one another are this far apart.
  explicit Node(int stride = 1) : stride_(stride) {
    for (int i = 0; i < 12; ++i) add_vf(i);
    folder("bus/pci/drivers/mlx5_core");
    folder_.write("bus/pci/drivers/mlx5_core/bind", "");
    folder_.write("bus/pci/drivers/mlx5_core/unbind", "");
    link(kPf, "driver", "bus/pci/drivers/mlx5_core");
  }

  static ib::PciAddress vf(int i) {
    return address("0000:01:0" + std::to_string(i / 8) + "." + std::to_string(i % 8));
  }
  // VF 0 is 0000:01:00.1.
  ib::PciAddress numbered(int i) const { return vf(i * stride_ + 1); }
  Path home(const ib::PciAddress& function) const {
    return Path("bus/pci/devices") / function.text();
  }
  void folder(const Path& path) const {
    std::filesystem::create_directories(folder_.path() / path);
  }
  void write(const Path& path, const std::string& content) const {
    folder_.write(path.string(), content);
  }
  void link(const ib::PciAddress& from, const std::string& name, const Path& to) const {
    std::filesystem::create_directory_symlink(Path("../../../..") / to,
                                              folder_.path() / home(from) / name);
  }

  // A device of a class, such as class/net/ib0, that belongs to what `parent` names.
  void device(const Path& name, const Path& parent) const {
    folder(name);
    std::filesystem::create_directory_symlink(Path("../../..") / parent,
                                              folder_.path() / name / "device");
  }

  const Sysfs& sysfs() const { return sysfs_; }

 private:
  void add_vf(int i) const {
    folder(home(kPf));
    folder(home(numbered(i)));
    link(kPf, "virtfn" + std::to_string(i), home(numbered(i)));
    link(numbered(i), "physfn", home(kPf));
  }
  const int stride_;
  TempFolder folder_;
  Sysfs sysfs_ = Sysfs::open(folder_.path()).value();
};

TEST_CASE("VFs come in the order of their numbers, not of their names") {
  const Node node;
  const auto vfs = vfs_of(node.sysfs(), kPf).value();
  REQUIRE(vfs.size() == 12);
  for (int i = 0; i < 12; ++i) CHECK(vfs.at(static_cast<size_t>(i)) == Node::vf(i + 1));
  CHECK(*vf_index(node.sysfs(), kPf, vfs.at(10)) == 10);
}

TEST_CASE("a VF's number is found whatever the distance of the VFs' addresses") {
  const Node node;
  const Node spread(2);
  for (int i = 0; i < 12; ++i) {
    CHECK(*vf_index(node.sysfs(), kPf, node.numbered(i)) == static_cast<uint32_t>(i));
    CHECK(*vf_index(spread.sysfs(), kPf, spread.numbered(i)) == static_cast<uint32_t>(i));
  }
}

TEST_CASE("VF and PF know each other") {
  const Node node;
  CHECK(*pf_of(node.sysfs(), Node::vf(3)) == std::optional(kPf));
  CHECK(!*pf_of(node.sysfs(), kPf));
  CHECK(vfs_of(node.sysfs(), Node::vf(3))->empty());
  CHECK(vf_index(node.sysfs(), kPf, kPf).error().code() == Code::not_found);
  CHECK(exists(node.sysfs(), kPf));
  CHECK(!exists(node.sysfs(), address("0000:02:00.0")));
  CHECK(!exists(node.sysfs(), ib::PciAddress()));
}

TEST_CASE("a driver is what the function's link names") {
  const Node node;
  CHECK(*driver(node.sysfs(), kPf) == std::optional<std::string>("mlx5_core"));
  CHECK(!*driver(node.sysfs(), Node::vf(1)));
}

TEST_CASE("a function is bound and unbound by its address") {
  const Node node;
  CHECK(bind(node.sysfs(), Node::vf(1), "mlx5_core").ok());
  CHECK(*node.sysfs().read("bus/pci/drivers/mlx5_core/bind") == "0000:01:00.1");
  CHECK(unbind(node.sysfs(), kPf).ok());
  CHECK(*node.sysfs().read("bus/pci/drivers/mlx5_core/unbind") == "0000:01:00.0");
}

TEST_CASE("a function without a driver is unbound already") {
  const Node node;
  CHECK(unbind(node.sysfs(), Node::vf(1)).ok());
  CHECK(*node.sysfs().read("bus/pci/drivers/mlx5_core/unbind") == "");
}

TEST_CASE("a driver that is not loaded is named") {
  const Node node;
  const Status bound = bind(node.sysfs(), Node::vf(1), "vfio-pci");
  REQUIRE(!bound);
  CHECK(bound.error().code() == Code::not_found);
  CHECK(bound.error().text().starts_with("bind 0000:01:00.1 to vfio-pci: "));
}

TEST_CASE("names that are no names do not become paths") {
  const Node node;
  for (const char* name : {"", "..", ".", "a/b", "../../x"}) {
    CAPTURE(name);
    CHECK(bind(node.sysfs(), kPf, name).error().code() == Code::invalid);
    CHECK(function_of_rdma_device(node.sysfs(), name).error().code() == Code::invalid);
  }
}

TEST_CASE("a function's netdevs, RDMA devices and character devices are listed") {
  const Node node;
  const Path home = node.home(kPf);
  node.folder(home / "net/ib0");
  node.folder(home / "infiniband/mlx5_0");
  node.folder(home / "infiniband_verbs/uverbs0");
  node.folder(home / "infiniband_mad/umad0");
  node.folder(home / "infiniband_mad/issm0");
  CHECK(*netdevs(node.sysfs(), kPf) == std::vector<std::string>{"ib0"});
  CHECK(*rdma_devices(node.sysfs(), kPf) == std::vector<std::string>{"mlx5_0"});
  CHECK(*char_devices(node.sysfs(), kPf) == std::vector<std::string>{"issm0", "umad0", "uverbs0"});
  CHECK(netdevs(node.sysfs(), Node::vf(1))->empty());
}

TEST_CASE("the function behind an RDMA device is told; a virtual device has none") {
  const Node node;
  node.device("class/infiniband/mlx5_0", node.home(Node::vf(1)));
  node.device("class/infiniband/rxe0", "bus/virtio/devices/virtio0");
  node.folder("class/infiniband/siw0");
  CHECK(*function_of_rdma_device(node.sysfs(), "mlx5_0") == std::optional(Node::vf(1)));
  CHECK(!*function_of_rdma_device(node.sysfs(), "rxe0"));
  CHECK(!*function_of_rdma_device(node.sysfs(), "siw0"));
  CHECK(!*function_of_rdma_device(node.sysfs(), "nowhere"));
}

}  // namespace
}  // namespace ibpod::sysfs
