// The start of the tests of preparation: a modelled node, a state folder, a configuration.
#pragma once

#include "agent/prepare/derive_guids.h"
#include "agent/prepare/intent.h"
#include "agent/prepare/prepare.h"
#include "tests/support/fake_kernel.h"
#include "tests/support/temp_folder.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::agent::prepare {

inline const ib::PciAddress kPf = fake::pf_address(0);
inline ib::PciAddress vf(unsigned number) { return fake::vf_address(0, number); }
inline node::Guids derived(unsigned number) {
  return derive_guids(fake::pf_guid(0), number).value();
}

struct PrepareFixture {
  TempFolder folder;
  node::Records records{folder.path()};
  Intents intents{folder.path()};
  fake::FakeKernel k = fake::node_with(1, 0);
  std::vector<PfConfig> configs{everything()};

  // An entry that chooses all PFs of the model.
  static PfConfig everything() {
    PfConfig config;
    config.path = "pfs[0]";
    config.vendor = 0x15b3;
    return config;
  }
  PfConfig& config() { return configs.front(); }
  std::function<Result<ib::Guid>(const ib::PciAddress&, uint32_t)> pool;  // of an SM service
  PodOf pod_of;                                                           // of a kubelet
  PodOf pod_of_now;                                                       // null: as pod_of

  PrepareResult run(const std::string& boot_id = "boot-1") {
    const PodOf& now = pod_of_now ? pod_of_now : pod_of;
    return prepare_node({k, records, folder.path(), boot_id, pool, pod_of, now}, configs,
                        Deadline::in(Duration(600'000)));
  }
  // The texts of all problems, a line each.
  std::string problems() {
    std::string all;
    for (const Error& problem : run().problems) all += problem.text() + "\n";
    return all;
  }

  // VFs that no process has prepared: bound, and without any GUID.
  void make_bare_vfs(unsigned count) {
    k.make_vfs(kPf, count);
    k.bound.clear();
  }
  static node::Record record_of(const ib::PciAddress& device) {
    node::Record record;
    record.plugin = "ib-sriov";
    record.container_id = "container";
    record.ifname = "net1";
    record.device = device;
    record.netns = {"/run/netns/pod", {}};
    record.boot_id = "boot-1";
    record.spec.ifname = "net1";
    record.configuration = "{}";
    return record;
  }
  void write_record(const ib::PciAddress& device, const std::string& boot_id = "boot-1") {
    node::Record record = record_of(device);
    record.boot_id = boot_id;
    const Status written = records.write(record);
    if (!written) FAIL(written.error().text());
  }

  // The GUIDs that a VF shows; nothing if it is not bound.
  std::optional<node::Guids> shown(unsigned number) {
    const auto devices = k.rdma_devices(node::kHost, vf(number)).value();
    if (devices.empty()) return std::nullopt;
    return node::Guids{devices.front().node_guid, devices.front().port_guid};
  }
  const fake::PciFunction& function(unsigned number) { return k.function_state(vf(number)); }

  // All that counts of the node, but for the names that the kernel hands out in the order of binds.
  std::string essence() {
    std::string all;
    for (const std::string& line : fake::lines(k.state)) {
      if (line.starts_with("function ")) all += line + "\n";
    }
    for (const auto& [id, where] : k.state.namespaces) {
      for (const auto& [name, device] : where.rdma) {
        if (device.deaf) all += device.function.text() + " has no MAD agent\n";
      }
    }
    for (const auto& [address, function] : k.state.functions) {
      for (const auto& device : k.rdma_devices(node::kHost, address).value())
        all += address.text() + " shows " + device.node_guid.text() + " " +
               device.port_guid.text() + "\n";
      for (const auto& netdev : k.netdevs(node::kHost, address).value())
        all += address.text() + " has " + nl::guid_of(netdev.address)->text() + "\n";
    }
    for (const ib::PciAddress& pf : intents.all().value()) all += "intent of " + pf.text() + "\n";
    for (const node::RecordName& name : records.all().value()) all += name.text() + "\n";
    return all;
  }
};

}  // namespace ibpod::agent::prepare
