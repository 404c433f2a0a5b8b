#include "agent/metrics/port_counters.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::agent::metrics {
namespace {

// mlx5_3 is 0000:3b:00.3.
std::string function_of(const std::string& device) {
  return std::string("0000:3b:00.") + device.back();
}

// A folder with devices of one port each.
struct Tree {
  TempFolder root;
  void counter(const std::string& device, const std::string& file, const std::string& content) {
    const Path path = Path("class/infiniband") / device / "ports/1" / file;
    std::filesystem::create_directories((root.path() / path).parent_path());
    root.write(path.string(), content);
    const Path link = root.path() / "class/infiniband" / device / "device";
    if (!std::filesystem::is_symlink(link))
      std::filesystem::create_symlink("../../../devices/" + function_of(device), link);
  }
  sysfs::Sysfs open() const { return sysfs::Sysfs::open(root.path()).value(); }
};

node::Record record_of(const std::string& device, bool isolation) {
  node::Record record;
  record.container_id = "c1";
  record.pod = {"ns", "pod", "uid"};
  record.netns.path = "/run/netns/pod";
  record.spec.isolation = isolation;
  record.device = *ib::PciAddress::parse(function_of(device));
  record.original.rdma_devices = {"as_it_was_called_before"};
  return record;
}

std::vector<std::string> lines(const PortCounters& read) {
  std::vector<std::string> lines;
  for (const PortCounter& c : read.counters) {
    lines.push_back(c.device + "/" + c.port + "/" + c.counter + " " + c.pod + " " +
                    std::to_string(static_cast<uint64_t>(c.value)));
  }
  return lines;
}

Result<sysfs::Sysfs> no_pod_sysfs(const node::Namespace&) { return Error(Code::not_found, "gone"); }

TEST_CASE("counters of both folders are read; what is no counter is left out") {
  Tree host;
  host.counter("mlx5_0", "counters/port_rcv_data", "4503599627370497\n");
  host.counter("mlx5_0", "counters/unsupported", "N/A (no PMA)\n");
  host.counter("mlx5_0", "hw_counters/lifespan", "10\n");
  host.counter("mlx5_0", "hw_counters/out_of_buffer", "3\n");
  const PortCounters read = read_port_counters(host.open(), {}, no_pod_sysfs);
  CHECK(lines(read) == std::vector<std::string>{"mlx5_0/1/port_rcv_data  4503599627370497",
                                                "mlx5_0/1/out_of_buffer  3"});
  CHECK(read.unread == 0);
}

TEST_CASE("a pod's device is read where it is, and bears the pod's name") {
  Tree host, pod;
  host.counter("mlx5_0", "counters/x", "1");
  host.counter("mlx5_3", "counters/x", "2");
  pod.counter("mlx5_2", "counters/x", "3");
  const auto sysfs_of = [&](const node::Namespace& netns) -> Result<sysfs::Sysfs> {
    CHECK(netns.path == "/run/netns/pod");
    return pod.open();
  };
  node::Record child = record_of("mlx5_0", false);
  child.child.emplace();
  const PortCounters read = read_port_counters(
      host.open(), {record_of("mlx5_2", true), record_of("mlx5_3", false), child}, sysfs_of);
  CHECK(lines(read) ==
        std::vector<std::string>{"mlx5_2/1/x pod 3", "mlx5_0/1/x  1", "mlx5_3/1/x pod 2"});
  CHECK(read.counters[0].name_space == "ns");
  CHECK(read.counters[0].container_id == "c1");
}

TEST_CASE("a device that cannot be read is counted, and keeps no other from being read") {
  Tree host;
  host.counter("mlx5_0", "counters/x", "1");
  std::filesystem::create_directories(host.root.path() / "class/infiniband/mlx5_1");
  const PortCounters read =
      read_port_counters(host.open(), {record_of("mlx5_2", true)}, no_pod_sysfs);
  CHECK(lines(read) == std::vector<std::string>{"mlx5_0/1/x  1"});
  CHECK(read.unread == 2);
}

TEST_CASE("one port has so many counters and no more") {
  Tree host;
  for (size_t n = 0; n < kMostCountersOfPort + 5; ++n)
    host.counter("mlx5_0", "counters/c" + std::to_string(n), "1");
  CHECK(read_port_counters(host.open(), {}, no_pod_sysfs).counters.size() == kMostCountersOfPort);
}

}  // namespace
}  // namespace ibpod::agent::metrics
