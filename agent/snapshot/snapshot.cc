#include "agent/snapshot/snapshot.h"

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

}  // namespace ibpod::agent::snapshot
