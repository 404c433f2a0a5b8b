// How long our own code takes for what every ADD does: read a call, read what the kernel says of a
// PF with many VFs, keep a record.
#include "cni/ib-sriov/config.h"
#include "lib/base/files.h"
#include "lib/cni/request.h"
#include "lib/cni/result.h"
#include "lib/nl/rtnl.h"
#include "lib/node/record.h"

#include <benchmark/benchmark.h>

namespace ibpod {
namespace {

constexpr char kConfiguration[] = R"({"cniVersion":"1.0.0","name":"ibnet","type":"ib-sriov",
  "deviceID":"0000:3b:00.2","pkey":"0x8001","rdmaIsolation":true,"link_state":"auto",
  "capabilities":{"infinibandGUID":true},"runtimeConfig":{"infinibandGUID":"02:00:00:00:00:00:00:01"},
  "ipam":{"type":"host-local","subnet":"10.7.0.0/24"}})";

void configuration(benchmark::State& state) {
  const cni::Environment environment{{"CNI_COMMAND", "ADD"},        {"CNI_CONTAINERID", "4f2a"},
                                     {"CNI_NETNS", "/run/netns/p"}, {"CNI_IFNAME", "net1"},
                                     {"CNI_PATH", "/opt/cni/bin"},  {"CNI_ARGS", "K8S_POD_NAME=p"}};
  for (auto _ : state) {
    const auto call = cni::parse_call(environment);
    const auto network = cni::parse_network(*cni::parse_document(kConfiguration), kConfiguration);
    const auto config = ib_sriov::parse_config(*call, network->document, attach::NodeConfig{});
    if (config.error) state.SkipWithError(config.error->text().c_str());
    benchmark::DoNotOptimize(config);
  }
}
BENCHMARK(configuration);

// The kernel's own answer about a PF, recorded in the test VM (tests/data/netlink).
void vf_settings(benchmark::State& state) {
  const auto bytes = read_file("tests/data/netlink/link-ipoib-pf-32-vfs.bin");
  if (!bytes) return state.SkipWithError(bytes.error().text().c_str());
  for (auto _ : state) {
    const auto settings = nl::parse_vf_settings(std::as_bytes(std::span(*bytes)));
    if (!settings) state.SkipWithError(settings.error().text().c_str());
    benchmark::DoNotOptimize(settings);
  }
}
BENCHMARK(vf_settings);

node::Record some_record() {
  node::Record record;
  record.plugin = "ib-sriov";
  record.network = "ibnet";
  record.container_id = "4f2a";
  record.ifname = "net1";
  record.device = *ib::PciAddress::parse("0000:3b:00.2");
  record.configuration = kConfiguration;
  record.original.netdev = node::OriginalNetdev{};
  return record;
}

void record_to_text_and_back(benchmark::State& state) {
  const node::Record record = some_record();
  for (auto _ : state) {
    const auto read = node::parse_record(node::text_of(record));
    if (!read) state.SkipWithError(read.error().text().c_str());
    benchmark::DoNotOptimize(read);
  }
}
BENCHMARK(record_to_text_and_back);

}  // namespace
}  // namespace ibpod
