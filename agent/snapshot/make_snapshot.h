// Look: one reading of the node, made into a View: what there is, which pool has it, how well it
// is.
#pragma once

#include "agent/gc/garbage_collector.h"
#include "agent/snapshot/snapshot.h"
#include "device-plugin/inventory.h"
#include "lib/node/records.h"
#include "lib/sysfs/sysfs.h"

#include <string>
#include <vector>

namespace ibpod::agent::snapshot {

// What a View is made of beside the inventory.
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
