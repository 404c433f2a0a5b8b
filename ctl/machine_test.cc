#include "ctl/machine.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

// A node with one container runtime, as files.
class Node {
 public:
  Node() {
    std::filesystem::create_directories(folder_.path() / "sys/module");
    write("proc/sys/kernel/osrelease", "6.1.0\n");
    write("proc/7/comm", "containerd\n");
  }

  void write(const Path& path, const std::string& content) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    folder_.write(path.string(), content);
  }
  Machine look() const {
    MachinePaths paths;
    paths.sys = folder_.path() / "sys";
    paths.proc = folder_.path() / "proc";
    paths.state = folder_.path() / "state";
    return read_machine(paths, nullptr).value();
  }

 private:
  TempFolder folder_;
};

TEST_CASE("machine: no limit of locked memory is another thing than one that cannot be read") {
  const Node node;
  CHECK(node.look().runtime == "containerd");
  CHECK_FALSE(node.look().memlock);
  const struct {
    std::string limits;
    std::optional<rlim_t> memlock;
  } cases[] = {
      {"Max locked memory         8388608              8388608              bytes     \n", 8388608},
      {"Max locked memory         unlimited            unlimited            bytes     \n",
       RLIM_INFINITY},
      {"Max locked memory         0                    unlimited            bytes     \n", 0},
      {"Max locked memory         many                 many                 bytes     \n", {}},
      {"Max locked memory", {}},
      {"Max processes             unlimited            unlimited            processes \n", {}},
      {"", {}},
  };
  for (const auto& [limits, memlock] : cases) {
    CAPTURE(limits);
    node.write("proc/7/limits", limits);
    CHECK(node.look().memlock == memlock);
  }
}

TEST_CASE("machine: a PF has an RDMA device once its driver's other half is loaded") {
  const Node node;
  const Path pf = "sys/bus/pci/devices/0000:3b:00.0";
  node.write(pf / "class", "0x020700\n");
  REQUIRE(node.look().functions.size() == 1);
  CHECK_FALSE(node.look().functions[0].rdma);
  node.write(pf / "infiniband_verbs/uverbs0/dev", "231:192\n");
  CHECK(node.look().functions[0].rdma);
  CHECK(node.look().functions[0].ports.empty());
  node.write(pf / "infiniband/mlx5_0/node_type", "1: CA\n");
  node.write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  REQUIRE(node.look().functions[0].ports.size() == 1);
  CHECK(node.look().functions[0].ports[0].link_layer.empty());
  node.write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
  CHECK(node.look().functions[0].ports[0].link_layer == "InfiniBand");
}

}  // namespace
}  // namespace ibpod::ctl
