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

namespace ibpod::agent {

// What a View is made of beside the inventory.
struct Judged {
  const std::vector<device_plugin::Pool>& pools;
  const device_plugin::Held& held;
  const Pass& pass;  // the last sweep's
  const RdmaModeVerdict& rdma_mode;
  const std::vector<std::string>& troubles;
  bool bound = false;  // each attachment is brought into a partition
};

// Deals the devices to the pools and judges each offer. Devices that the sweep has quarantined say
// so. Pure.
View make_view(std::vector<device_plugin::Device> devices, const Judged& judged);

}  // namespace ibpod::agent
