#include "lib/kube/messages.h"

#include <algorithm>

namespace ibpod::kube {
namespace {

constexpr size_t kLongestId = 63;

Status check_ids(const std::vector<Device>& sorted) {
  const std::string* last = nullptr;
  for (const Device& device : sorted) {
    if (device.id.empty() || device.id.size() > kLongestId) {
      return Error(Code::invalid, "device id \"" + device.id + "\": expected 1 to " +
                                      std::to_string(kLongestId) + " bytes");
    }
    if (last != nullptr && *last == device.id) {
      return Error(Code::invalid, "device id \"" + device.id + "\" is listed twice");
    }
    last = &device.id;
  }
  return ok();
}

}  // namespace

Result<v1beta1::ListAndWatchResponse> list_message(std::vector<Device> devices) {
  std::sort(devices.begin(), devices.end(),
            [](const Device& a, const Device& b) { return a.id < b.id; });
  TRY(check_ids(devices));
  v1beta1::ListAndWatchResponse message;
  for (const Device& device : devices) {
    v1beta1::Device& entry = *message.add_devices();
    entry.set_id(device.id);
    entry.set_health(device.healthy ? "Healthy" : "Unhealthy");
    if (device.numa) entry.mutable_topology()->add_nodes()->set_id(*device.numa);
  }
  if (message.ByteSizeLong() > kLargestList) {
    return Error(Code::invalid, "a list of " + std::to_string(devices.size()) + " devices has " +
                                    std::to_string(message.ByteSizeLong()) +
                                    " bytes; the kubelet accepts at most " +
                                    std::to_string(kLargestList));
  }
  return message;
}

v1beta1::ContainerAllocateResponse allocation_message(const Allocation& allocation) {
  v1beta1::ContainerAllocateResponse message;
  message.mutable_envs()->insert(allocation.envs.begin(), allocation.envs.end());
  message.mutable_annotations()->insert(allocation.annotations.begin(),
                                        allocation.annotations.end());
  for (const Mount& mount : allocation.mounts) {
    v1beta1::Mount& entry = *message.add_mounts();
    entry.set_container_path(mount.container_path);
    entry.set_host_path(mount.host_path);
    entry.set_read_only(mount.read_only);
  }
  for (const DeviceNode& device : allocation.devices) {
    v1beta1::DeviceSpec& entry = *message.add_devices();
    entry.set_container_path(device.container_path);
    entry.set_host_path(device.host_path);
    entry.set_permissions(device.permissions);
  }
  for (const std::string& name : allocation.cdi_devices) message.add_cdi_devices()->set_name(name);
  return message;
}

v1beta1::DevicePluginOptions options_message(const Options& options) {
  v1beta1::DevicePluginOptions message;
  message.set_pre_start_required(options.pre_start);
  message.set_get_preferred_allocation_available(options.prefers);
  return message;
}

namespace {

PodDevices pod_of(const v1::PodResources& message) {
  PodDevices pod{message.name(), message.namespace_(), {}};
  for (const v1::ContainerResources& entry : message.containers()) {
    ContainerDevices container{entry.name(), {}};
    for (const v1::ContainerDevices& given : entry.devices()) {
      const auto& ids = given.device_ids();
      container.devices.push_back({given.resource_name(), {ids.begin(), ids.end()}});
    }
    pod.containers.push_back(std::move(container));
  }
  return pod;
}

}  // namespace

std::optional<std::vector<PodDevices>> pods_of(const v1::ListPodResourcesResponse& answer) {
  std::vector<PodDevices> pods;
  for (const v1::PodResources& pod : answer.pod_resources()) pods.push_back(pod_of(pod));
  if (pods.empty()) return std::nullopt;
  return pods;
}

std::vector<std::string> ready_sandboxes_of(const runtime::v1::ListPodSandboxResponse& answer) {
  std::vector<std::string> ids;
  for (const runtime::v1::PodSandbox& sandbox : answer.items())
    if (sandbox.state() == runtime::v1::SANDBOX_READY) ids.push_back(sandbox.id());
  return ids;
}

}  // namespace ibpod::kube
