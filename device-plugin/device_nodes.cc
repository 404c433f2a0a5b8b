#include "device-plugin/device_nodes.h"

#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

DeviceNode node(const std::string& path) { return {path, path, "rw"}; }

bool wants_rdma(const Pool& pool, const PoolDevice& pool_device) {
  return pool_device.selector >= pool.selectors.size() ||
         pool.selectors[pool_device.selector].rdma.value_or(true);
}

std::vector<DeviceNode> vfio_nodes(const Device& device) {
  if (!device.iommu_group) return {};
  return {node("/dev/vfio/" + std::to_string(*device.iommu_group)), node("/dev/vfio/vfio")};
}

}  // namespace

std::vector<std::string> char_devices_of(const Device& device, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& one : device.char_devices) {
    if (one.substr(0, one.find_first_of("0123456789")) == name) found.push_back(one);
  }
  return found;
}

bool gives_nodes(const Pool& pool, const PoolDevice& pool_device) {
  if (pool.kind != PoolKind::device) return false;
  return pool_device.device.driver == node::kVfio || wants_rdma(pool, pool_device);
}

std::vector<DeviceNode> device_nodes_of(const Pool& pool, const PoolDevice& pool_device) {
  if (pool.kind != PoolKind::device) return {};
  if (pool_device.device.driver == node::kVfio) return vfio_nodes(pool_device.device);
  if (!wants_rdma(pool, pool_device) || pool_device.device.char_devices.empty()) return {};
  std::vector<DeviceNode> nodes;
  for (const std::string& name : pool.device_nodes) {
    if (name == "rdma_cm") nodes.push_back(node("/dev/infiniband/rdma_cm"));
    for (const std::string& one : char_devices_of(pool_device.device, name))
      nodes.push_back(node("/dev/infiniband/" + one));
  }
  const auto earlier = [](const DeviceNode& a, const DeviceNode& b) { return a.path < b.path; };
  std::sort(nodes.begin(), nodes.end(), earlier);
  return nodes;
}

}  // namespace ibpod::device_plugin
