#include "lib/kube/answers.h"

namespace ibpod::kube {
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
