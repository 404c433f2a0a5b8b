#include "agent/snapshot/snapshot.h"

#include "device-plugin/health.h"

#include <algorithm>

namespace ibpod::agent::snapshot {

std::string interface_of(const Snapshot& snapshot, const ib::PciAddress& pf) {
  const auto found = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                  [&](const auto& one) { return one.address == pf; });
  return found == snapshot.devices.end() ? "" : found->pf_name;
}

PoolDeviceRef find_pool_device(const Snapshot& snapshot, const std::string& id) {
  for (const device_plugin::PoolContents& contents : snapshot.pool_contents) {
    for (const device_plugin::PoolDevice& pool_device : contents.devices)
      if (pool_device.id == id) return {&contents, &pool_device};
  }
  return {};
}

namespace {

using device_plugin::Device;
using device_plugin::Pool;
using device_plugin::PoolContents;

void quarantine(std::vector<Device>& devices, const gc::GcRun& gc_run) {
  for (const gc::Outcome& outcome : gc_run.outcomes) {
    if (!outcome.vf || !outcome.is_quarantined()) continue;
    for (Device& device : devices)
      if (device.address == *outcome.vf) device.quarantine = outcome.text();
  }
}

// A ticket's child is an interface of the host's port: no pod sees an RDMA device by it.
device_plugin::HealthCriteria criteria_of(const Pool& pool, size_t selector, bool bound) {
  device_plugin::HealthCriteria criteria{pool.isolation, pool.ignore_link, true, bound};
  if (pool.kind == device_plugin::PoolKind::ipoib_slot) criteria.isolation = false;
  const bool asks = selector < pool.selectors.size();
  if (asks && pool.selectors[selector].rdma == false) criteria.rdma = false;
  return criteria;
}

}  // namespace

Snapshot make_snapshot(std::vector<Device> devices, const SnapshotInputs& inputs) {
  quarantine(devices, inputs.gc_run);
  Snapshot snapshot;
  snapshot.pool_contents = device_plugin::assign(inputs.pools, devices, inputs.allocated);
  for (PoolContents& contents : snapshot.pool_contents) {
    for (device_plugin::PoolDevice& pool_device : contents.devices) {
      const auto criteria =
          criteria_of(contents.pool, pool_device.selector, inputs.partition_required);
      const auto health =
          device_plugin::evaluate_health(pool_device.device, criteria, inputs.rdma_mode.mode);
      pool_device.unhealthy = health.text;
      snapshot.health[pool_device.id] = health;
    }
  }
  snapshot.devices = std::move(devices);
  snapshot.pools = inputs.pools;
  snapshot.allocated = inputs.allocated;
  snapshot.rdma_mode = inputs.rdma_mode;
  snapshot.preparation_errors = inputs.preparation_errors;
  return snapshot;
}

}  // namespace ibpod::agent::snapshot
