// Snapshot: what the agent knows of its node at one moment. The agent's thread makes it; the
// kubelet's questions, ibpodctl's and the metrics are answered from it.
#pragma once

#include "agent/gc/garbage_collector.h"
#include "agent/prepare/rdma_mode.h"
#include "device-plugin/device.h"
#include "device-plugin/health.h"
#include "device-plugin/pool.h"
#include "lib/base/latest.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::agent::snapshot {

struct Snapshot {
  std::vector<device_plugin::Device> devices;  // by PCI address
  std::vector<device_plugin::Pool> pools;      // in the order in which they take devices
  std::vector<device_plugin::PoolContents>
      pool_contents;                                    // what they took, with each offer's health
  std::map<std::string, device_plugin::Health> health;  // by the offer's id
  device_plugin::Allocated allocated;
  prepare::RdmaModeStatus rdma_mode;
  // The problems of the node's preparation, a sentence each.
  std::vector<std::string> preparation_errors;
  bool operator==(const Snapshot&) const = default;
};

// A device, and where it is offered.
struct PoolDeviceRef {
  const device_plugin::PoolContents* contents = nullptr;
  const device_plugin::PoolDevice* pool_device = nullptr;
};
// The interface of a PF; empty: it has none, or is not to be seen.
std::string interface_of(const Snapshot& snapshot, const ib::PciAddress& pf);
// By the id that the kubelet knows; both null where it is not offered.
PoolDeviceRef find_pool_device(const Snapshot& snapshot, const std::string& id);

// The parts of a snapshot beside the inventory.
struct SnapshotInputs {
  const std::vector<device_plugin::Pool>& pools;
  const device_plugin::Allocated& allocated;
  const gc::GcRun& gc_run;  // the last sweep's
  const prepare::RdmaModeStatus& rdma_mode;
  const std::vector<std::string>& preparation_errors;
  bool partition_required = false;  // each attachment is brought into a partition
};

// Deals the devices to the pools and judges each offer. Devices that the sweep has quarantined say
// so. Pure.
Snapshot make_snapshot(std::vector<device_plugin::Device> devices, const SnapshotInputs& inputs);

}  // namespace ibpod::agent::snapshot
