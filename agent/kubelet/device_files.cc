#include "agent/kubelet/device_files.h"

#include "device-plugin/device_info.h"
#include "lib/base/fnv.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace ibpod::agent::kubelet {
namespace {

using device_plugin::Pool;
using device_plugin::PoolContents;
using device_plugin::PoolDevice;

// The kubelet names a pod's devices in pod-resources well before that, and no look takes so long.
constexpr std::chrono::minutes kGrantRetention{5};

void add(const std::string& id, std::set<ib::PciAddress>& devices) {
  const Result<ib::PciAddress> address = ib::PciAddress::parse(id);
  if (address) devices.insert(*address);
}

// No two agents of a machine have one socket. The usual one has the plain name.
std::string owner_of(const Path& agent_socket) {
  if (agent_socket == config::Config().agent_socket) return "ibpod";
  char text[32];
  std::snprintf(text, sizeof text, "ibpod-%016" PRIx64, fnv1a(agent_socket.native()));
  return text;
}
// The devices that the pools offer, by ID.
class PoolDeviceIndex {
 public:
  PoolDeviceIndex() = default;
  explicit PoolDeviceIndex(const snapshot::Snapshot& snapshot) {
    for (const device_plugin::PoolContents& contents : snapshot.pool_contents)
      for (const device_plugin::PoolDevice& pool_device : contents.devices)
        all_[pool_device.id] = {&contents, &pool_device};
  }
  // True if all of these are among the others.
  bool is_subset_of(const PoolDeviceIndex& others) const {
    return std::all_of(all_.begin(), all_.end(),
                       [&](const auto& one) { return others.all_.contains(one.first); });
  }
  bool contains(const device_plugin::PoolContents& contents,
                const device_plugin::PoolDevice& pool_device) const {
    const auto found = all_.find(pool_device.id);
    return found != all_.end() && found->second.contents->pool == contents.pool &&
           *found->second.pool_device == pool_device;
  }

 private:
  std::map<std::string, snapshot::PoolDeviceRef> all_;
};

}  // namespace

DeviceFiles::DeviceFiles(const config::Config& config)
    : device_info_(config.device_info_folder), with_cdi_(config.cdi) {
  cdi_.path = config.cdi_folder;
  cdi_.owner = owner_of(config.agent_socket);
  if (cdi_.path != "/etc/cdi") cdi_.other_folders = {"/etc/cdi"};
  cdi_.other_folders_mount_namespace = config.host_mount_namespace;
}

Status DeviceFiles::grant(const std::vector<snapshot::PoolDeviceRef>& devices) {
  const std::scoped_lock lock(mutex_);
  for (const snapshot::PoolDeviceRef& device : devices) mark_granted(device.pool_device->id);
  for (const snapshot::PoolDeviceRef& device : devices) {
    if (device.contents->pool.kind != device_plugin::PoolKind::device) continue;
    TRY(read_resources());
    resources_->insert(device.contents->pool.resource());
    TRY(device_plugin::write_allocated(device_info_, device.contents->pool, *device.pool_device,
                                       *resources_));
  }
  return ok();
}

// Reads once: a large node has many files, and no other process writes ours.
Status DeviceFiles::read_resources() {
  if (resources_) return ok();
  resources_ = TRY(device_plugin::allocated_resources(device_info_));
  return ok();
}

Status DeviceFiles::check_nodes(const std::string& resource, const Pool& pool,
                                const PoolDevice& now) const {
  if (!device_plugin::gives_nodes(pool, now)) return ok();
  const auto granted = TRY(device_plugin::granted_nodes(device_info_, resource, now.id));
  if (granted) return device_plugin::compare_nodes(now.id, *granted, device_nodes_of(pool, now));
  return Error(Code::unavailable,
               "device " + now.id + ": the record of its device nodes, " +
                   device_plugin::device_info_file(device_info_, resource, now.id).string() +
                   ", is missing: the container might open another device; delete the pod, or "
                   "use a pool with \"cdi\": true");
}

Status DeviceFiles::pre_start(const std::string& resource, const Pool& pool,
                              const PoolDevice& now) {
  if (device_plugin::cdi_name(pool, now).empty()) return check_nodes(resource, pool, now);
  const std::scoped_lock cdi_lock(cdi_mutex_);
  {
    const std::scoped_lock lock(mutex_);
    mark_granted(now.id);
  }
  TRY(make_folders(cdi_.path));
  return device_plugin::refresh_cdi(cdi_, pool, now);
}

Status DeviceFiles::refresh(const snapshot::Snapshot& now, const snapshot::Snapshot* before) {
  if (!with_cdi_) return ok();
  const std::scoped_lock cdi_lock(cdi_mutex_);
  TRY(make_folders(cdi_.path));
  const std::set<ib::PciAddress> used = devices_in_use(now);
  const PoolDeviceIndex old = before == nullptr ? PoolDeviceIndex() : PoolDeviceIndex(*before);
  Errors errors;
  for (const PoolContents& contents : now.pool_contents) {
    for (const PoolDevice& pool_device : contents.devices) {
      if (!used.contains(pool_device.device.address) && !old.contains(contents, pool_device))
        errors.collect(device_plugin::refresh_cdi(cdi_, contents.pool, pool_device));
    }
  }
  if (before == nullptr || !old.is_subset_of(PoolDeviceIndex(now)))
    errors.collect(device_plugin::tidy_cdi(cdi_, now.pool_contents, used));
  return errors.status();
}

std::set<ib::PciAddress> DeviceFiles::devices_in_use(const snapshot::Snapshot& now) {
  const std::scoped_lock lock(mutex_);
  return in_use(now, {});
}

Status DeviceFiles::tidy_cdi(const snapshot::Snapshot& now) {
  if (!with_cdi_) return ok();
  const std::scoped_lock cdi_lock(cdi_mutex_);
  return device_plugin::tidy_cdi(cdi_, now.pool_contents, devices_in_use(now));
}

std::set<ib::PciAddress> DeviceFiles::in_use(const snapshot::Snapshot& snapshot,
                                             const std::vector<gc::PodDevices>& pods) {
  std::set<ib::PciAddress> devices;
  for (const device_plugin::Device& device : snapshot.devices)
    if (!device.attachment.empty()) devices.insert(device.address);
  for (const gc::PodDevices& pod : pods)
    for (const std::string& id : pod.devices) add(id, devices);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(granted_, [&](const auto& one) { return now - one.second > kGrantRetention; });
  for (const auto& [id, when] : granted_) add(id, devices);
  return devices;
}

Status DeviceFiles::tidy(const snapshot::Snapshot& snapshot,
                         const std::vector<gc::PodDevices>& pods) {
  if (pods.empty()) return ok();
  const std::scoped_lock lock(mutex_);
  const std::set<ib::PciAddress> used = in_use(snapshot, pods);
  Errors errors;
  for (const Pool& pool : snapshot.pools)
    errors.collect(device_plugin::tidy_device_info(device_info_, pool.resource(), used));
  return errors.status();
}

}  // namespace ibpod::agent::kubelet
