#include "lib/node/listing.h"

#include "lib/netns/netns.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const ib::PciAddress kVf = ib::PciAddress::parse("0000:3b:00.1").value();

// A function's RDMA devices in a folder that looks like a sysfs.
class Tree {
 public:
  Tree() { std::filesystem::create_directories(listed()); }

  // The function's list, and the devices in the class: the kernel changes one after the other.
  void list(const std::string& name) const { std::filesystem::create_directory(listed() / name); }
  void unlist(const std::string& name) const { std::filesystem::remove(listed() / name); }
  void know(const std::string& name) const {
    std::filesystem::create_directories(known(name) / "ports/1/gids");
    folder_.write("class/infiniband/" + name + "/node_guid", "0011:2233:4455:7700\n");
    folder_.write("class/infiniband/" + name + "/ports/1/gids/0",
                  "fe80:0000:0000:0000:0011:2233:4455:6600\n");
  }

  Result<std::vector<std::string>> names(const Pause& pause) const {
    const std::vector<RdmaDevice> devices = TRY(list_rdma_devices(sysfs_, kVf, pause));
    std::vector<std::string> found;
    for (const RdmaDevice& device : devices) found.push_back(device.name);
    return found;
  }

 private:
  Path listed() const { return folder_.path() / "bus/pci/devices" / kVf.text() / "infiniband"; }
  Path known(const std::string& name) const { return folder_.path() / "class/infiniband" / name; }
  TempFolder folder_;
  sysfs::Sysfs sysfs_ = sysfs::Sysfs::open(folder_.path()).value();
};

// For lists that nothing disturbs.
Status no_pause() {
  FAIL("paused");
  return ok();
}

TEST_CASE("RDMA devices are listed at once where nothing changes") {
  const Tree tree;
  CHECK(tree.names(no_pause)->empty());
  tree.list("mlx5_1");
  tree.list("mlx5_2");
  tree.know("mlx5_1");
  tree.know("mlx5_2");
  CHECK(tree.names(no_pause).value() == std::vector<std::string>{"mlx5_1", "mlx5_2"});
}

TEST_CASE("an RDMA device that is renamed while it is listed is not left out") {
  const Tree tree;
  tree.list("mlx5_1");
  tree.know("ibp59s0v0");  // the class has the new name already
  int pauses = 0;
  const auto rename = [&] {
    if (++pauses == 3) tree.unlist("mlx5_1");
    if (pauses == 3) tree.list("ibp59s0v0");
    return ok();
  };
  CHECK(tree.names(rename).value() == std::vector<std::string>{"ibp59s0v0"});
  CHECK(pauses == 3);
}

TEST_CASE("an RDMA device that goes while it is listed is in no list; the others stay in it") {
  const Tree tree;
  tree.list("mlx5_1");
  tree.list("mlx5_2");
  tree.know("mlx5_2");
  const auto go = [&] {
    tree.unlist("mlx5_1");
    return ok();
  };
  CHECK(tree.names(go).value() == std::vector<std::string>{"mlx5_2"});
}

TEST_CASE("a list that never comes to rest is unavailable, not short") {
  const Tree tree;
  tree.list("mlx5_1");
  tree.list("mlx5_2");
  tree.know("mlx5_2");
  int pauses = 0;
  const auto found = tree.names([&] { return ++pauses, ok(); });
  CHECK(found.error().code() == Code::unavailable);
  CHECK(found.error().text() ==
        "the RDMA devices of 0000:3b:00.1 change their names while they are listed");
  CHECK(pauses == 40);
}

TEST_CASE("a pause that fails ends the list") {
  const Tree tree;
  tree.list("mlx5_1");
  const auto fail = []() -> Status { return Error(Code::internal, "no poll"); };
  CHECK(tree.names(fail).error().text() == "no poll");
}

TEST_CASE("a pod's namespace that is gone, or is another one by now, is not found") {
  const TempFolder folder;
  CHECK(open_pod_sysfs({folder.path() / "gone", {}}, "").error().code() == Code::not_found);
  const Path own = "/proc/thread-self/ns/net";
  CHECK(open_pod_sysfs({own, {1, 2, 3}}, "").error().code() == Code::not_found);
}

TEST_CASE("a pod's namespace is looked for in the mount namespace that is named, and only there") {
  const Namespace here{"/proc/thread-self/ns/net", {1, 2, 3}};
  const auto refused = open_pod_sysfs(here, "/nowhere");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() ==
        "open a pod's network namespace: open /nowhere: No such file or directory");
}

}  // namespace
}  // namespace ibpod::node
