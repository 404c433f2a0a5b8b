#include "agent/kubelet/kubelet_pods.h"

#include <algorithm>

namespace ibpod::agent::kubelet {
namespace {

constexpr Duration kTimeout{10'000};
// The agent's own thread waits for it.
constexpr Duration kFindTimeout{2'000};

// After its start the kubelet lists no pods, whatever runs.
Result<std::vector<kube::PodDevices>> list_known(const kube::PodResources& kubelet,
                                                 Deadline deadline) {
  std::optional<std::vector<kube::PodDevices>> pods = TRY(kubelet.list(deadline));
  if (pods) return *std::move(pods);
  return Error(Code::unavailable, "the kubelet does not list any pods yet");
}

}  // namespace

Result<std::vector<gc::PodDevices>> KubeletPods::list_pods() {
  const std::optional<std::vector<kube::PodDevices>> pods =
      TRY(kubelet_.list(Deadline::in(kTimeout)));
  std::vector<gc::PodDevices> all;
  if (!pods) return all;
  for (const kube::PodDevices& pod : *pods) {
    gc::PodDevices& one = all.emplace_back(gc::PodDevices{pod.namespace_name, pod.name, {}});
    for (const kube::ContainerDevices& container : pod.containers) {
      for (const kube::ResourceDevices& given : container.devices)
        one.devices.insert(one.devices.end(), given.ids.begin(), given.ids.end());
    }
  }
  return all;
}

Result<kube::PodDevices> find_pod(const kube::PodResources& kubelet, const std::string& name_space,
                                  const std::string& pod, Deadline deadline) {
  const std::vector<kube::PodDevices> pods = TRY(list_known(kubelet, deadline));
  const auto found = std::find_if(pods.begin(), pods.end(), [&](const kube::PodDevices& one) {
    return one.name == pod && one.namespace_name == name_space;
  });
  if (found != pods.end()) return *found;
  return Error(Code::unavailable,
               "the kubelet does not list the pod " + name_space + "/" + pod + " yet");
}

std::vector<std::string> device_ids_of(const kube::PodDevices& pod, const std::string& resource) {
  std::vector<std::string> ids;
  for (const kube::ContainerDevices& container : pod.containers) {
    for (const kube::ResourceDevices& given : container.devices) {
      if (given.resource == resource) ids.insert(ids.end(), given.ids.begin(), given.ids.end());
    }
  }
  return ids;
}

bool has_device(const kube::PodDevices& pod, const ib::PciAddress& device) {
  const auto is_it = [&](const std::string& id) {
    const Result<ib::PciAddress> address = ib::PciAddress::parse(id);
    return address && *address == device;
  };
  for (const kube::ContainerDevices& container : pod.containers) {
    for (const kube::ResourceDevices& given : container.devices) {
      if (std::any_of(given.ids.begin(), given.ids.end(), is_it)) return true;
    }
  }
  return false;
}

std::function<Result<std::optional<std::string>>(const ib::PciAddress& device)> pod_finder(
    kube::PodResources kubelet, Duration max_age) {
  using Listed = Result<std::vector<kube::PodDevices>>;
  return [kubelet = std::move(kubelet), max_age, listed = std::optional<Listed>(),
          renewal = Deadline::in(Duration(0))](
             const ib::PciAddress& device) mutable -> Result<std::optional<std::string>> {
    if (!listed || (*listed && renewal.passed())) {
      listed.emplace(list_known(kubelet, Deadline::in(kFindTimeout)));
      renewal = Deadline::in(max_age);
    }
    if (!*listed) return listed->error();
    for (const kube::PodDevices& pod : **listed)
      if (has_device(pod, device)) return std::optional(pod.namespace_name + "/" + pod.name);
    return std::optional<std::string>();
  };
}

}  // namespace ibpod::agent::kubelet
