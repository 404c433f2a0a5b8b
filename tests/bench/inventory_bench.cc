// How long the inventory of a large node takes: 8 PFs with 127 VFs each, on a sysfs of ordinary
// files. The kernel's own files answer more slowly, and a P_Key of mlx5 asks the firmware.
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
  node::HostNetwork network;
  sysfs::Sysfs sysfs = tree.open();
};

const LargeNode& large_node() {
  static const LargeNode node;
  return node;
}

void read(benchmark::State& state, Inventory& inventory, const ChangeSet& changed,
          PkeyTables tables) {
  const LargeNode& node = large_node();
  const node::PodSysfs nowhere = [](const node::Namespace&) -> Result<sysfs::Sysfs> {
    return Error(Code::not_found, "no record names a pod");
  };
  auto devices = inventory.read({node.sysfs, node.records, node.network, nowhere, tables}, changed);
  if (!devices) state.SkipWithError(devices.error().text().c_str());
  benchmark::DoNotOptimize(devices);
}

// The first reading is of everything; those that follow are measured.
void measure(benchmark::State& state, const ChangeSet& changed, PkeyTables tables) {
  Inventory inventory;
  read(state, inventory, changed, tables);
  for (auto _ : state) read(state, inventory, changed, tables);
}

ib::PciAddress at(const char* text) { return *ib::PciAddress::parse(text); }

// As at the start.
void inventory_whole(benchmark::State& state) {
  measure(state, {.everything = true}, PkeyTables::skip);
}
BENCHMARK(inventory_whole)->Unit(benchmark::kMillisecond);

// The same where a pool chooses by P_Key.
void inventory_whole_with_tables(benchmark::State& state) {
  measure(state, {.everything = true, .ports = true}, PkeyTables::read);
}
BENCHMARK(inventory_whole_with_tables)->Unit(benchmark::kMillisecond);

// As once a minute.
void inventory_of_ports(benchmark::State& state) {
  measure(state, {.ports = true}, PkeyTables::skip);
}
BENCHMARK(inventory_of_ports)->Unit(benchmark::kMillisecond);

// As behind events: of a VF, and of a PF, which has 127.
void inventory_after_an_event_of_a_vf(benchmark::State& state) {
  measure(state, {.functions = {at("0000:11:00.1")}}, PkeyTables::skip);
}
BENCHMARK(inventory_after_an_event_of_a_vf)->Unit(benchmark::kMillisecond);

void inventory_after_an_event_of_a_pf(benchmark::State& state) {
  measure(state, {.functions = {at("0000:11:00.0")}}, PkeyTables::skip);
}
BENCHMARK(inventory_after_an_event_of_a_pf)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ibpod::device_plugin
