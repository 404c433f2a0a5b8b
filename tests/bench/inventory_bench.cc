// How long the inventory of a large node takes: 8 PFs with 127 VFs each, on a sysfs of ordinary
// files. The kernel's own files answer more slowly, and a P_Key of mlx5 asks the firmware.
#include "device-plugin/changes.h"
#include "device-plugin/inventory.h"
#include "tests/support/fake_sysfs.h"

#include <benchmark/benchmark.h>

namespace ibpod::device_plugin {
namespace {

constexpr unsigned kPfs = 8, kVfs = 127, kPkeys = 128;

struct LargeNode {
  LargeNode() { tree.add_pfs(kPfs, kVfs); }
  fake::FakeSysfs tree{kPkeys};
  TempFolder state;
  node::Records records{state.path()};
  HostNetwork network;
  sysfs::Sysfs sysfs = tree.open();
};

const LargeNode& large_node() {
  static const LargeNode node;
  return node;
}

std::vector<Device> read(benchmark::State& state, const std::vector<Device>* known) {
  const LargeNode& node = large_node();
  const node::PodSysfs nowhere = [](const node::Namespace&) -> Result<sysfs::Sysfs> {
    return Error(Code::not_found, "no record names a pod");
  };
  auto devices = read_inventory({node.sysfs, node.records, node.network, nowhere, known});
  if (!devices) {
    state.SkipWithError(devices.error().text().c_str());
    return {};
  }
  return *devices;
}

// As at the start, and once a minute: every P_Key table is read.
void inventory_whole(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(read(state, nullptr));
}
BENCHMARK(inventory_whole)->Unit(benchmark::kMillisecond);

// As behind every event.
void inventory_after_an_event(benchmark::State& state) {
  const std::vector<Device> known = read(state, nullptr);
  for (auto _ : state) {
    const std::vector<Device> now = read(state, &known);
    benchmark::DoNotOptimize(changes(known, now));
  }
}
BENCHMARK(inventory_after_an_event)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ibpod::device_plugin
