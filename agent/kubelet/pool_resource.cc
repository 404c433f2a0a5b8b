#include "agent/kubelet/pool_resource.h"

#include "device-plugin/allocation.h"
#include "device-plugin/preferred_allocation.h"
#include "lib/sysfs/pci.h"

#include <algorithm>

namespace ibpod::agent::kubelet {
namespace {

using device_plugin::PoolContents;
using device_plugin::PoolDevice;

const PoolContents* find_pool(const snapshot::Snapshot& snapshot, const std::string& resource) {
  const auto found = std::find_if(
      snapshot.pool_contents.begin(), snapshot.pool_contents.end(),
      [&](const PoolContents& contents) { return contents.pool.resource() == resource; });
  return found == snapshot.pool_contents.end() ? nullptr : &*found;
}

kube::Allocation allocation_of(const device_plugin::AllocateResponse& answer) {
  kube::Allocation allocation;
  allocation.envs = answer.envs;
  allocation.annotations = answer.annotations;
  allocation.cdi_devices = answer.cdi_devices;
  for (const device_plugin::Mount& mount : answer.mounts)
    allocation.mounts.push_back({mount.container_path, mount.host_path, mount.read_only});
  for (const device_plugin::DeviceNode& node : answer.device_nodes)
    allocation.devices.push_back({node.path, node.host_path, node.permissions});
  return allocation;
}

}  // namespace

std::vector<kube::Device> PoolResource::devices() {
  const auto snapshot = snapshot_.get();
  const PoolContents* contents = find_pool(*snapshot, name_);
  std::vector<kube::Device> devices;
  if (contents == nullptr) return devices;
  for (const PoolDevice& pool_device : contents->devices) {
    devices.push_back({pool_device.id, pool_device.unhealthy.empty(),
                       contents->pool.exclude_topology ? std::nullopt : pool_device.device.numa});
  }
  return devices;
}

Result<kube::Allocation> PoolResource::grant(const snapshot::Snapshot& snapshot,
                                             const kube::DeviceIds& ids) {
  const device_plugin::AllocateResponse answer =
      TRY(device_plugin::allocate(snapshot.pool_contents, name_, ids));
  std::vector<snapshot::PoolDeviceRef> given;
  for (const std::string& id : ids) given.push_back(snapshot::find_pool_device(snapshot, id));
  TRY(deps_.files.grant(given));
  return allocation_of(answer);
}

Result<kube::Allocation> PoolResource::allocate(const kube::DeviceIds& ids) {
  const auto begin = std::chrono::steady_clock::now();
  Result<kube::Allocation> allocation = grant(*snapshot_.get(), ids);
  on_allocate_({name_, ids, allocation.ok(), std::chrono::steady_clock::now() - begin});
  return allocation;
}

Result<kube::DeviceIds> PoolResource::prefer(const kube::DeviceIds& available,
                                             const kube::DeviceIds& must_include, size_t size) {
  const auto snapshot = snapshot_.get();
  const PoolContents* contents = find_pool(*snapshot, name_);
  if (contents == nullptr) return Error(Code::not_found, "no such pool: " + name_);
  return device_plugin::preferred_allocation(contents->devices, contents->pool.policy,
                                             {available, must_include, size});
}

Status PoolResource::pre_start(const kube::DeviceIds& ids) {
  const auto snapshot = snapshot_.get();
  for (const std::string& id : ids) TRY(pre_start_device(*snapshot, id));
  return ok();
}

Status PoolResource::pre_start_device(const snapshot::Snapshot& snapshot, const std::string& id) {
  const snapshot::PoolDeviceRef device_ref = snapshot::find_pool_device(snapshot, id);
  if (device_ref.pool_device == nullptr)
    return Error(Code::not_found, "device " + id + " is not offered by " + name_);
  PoolDevice now = *device_ref.pool_device;
  now.device.char_devices = TRY(sysfs::char_devices(deps_.sysfs, now.device.address));
  return deps_.files.pre_start(name_, device_ref.contents->pool, now);
}

}  // namespace ibpod::agent::kubelet
