// The node's pods by the kubelet's word.
#pragma once

#include "agent/gc/gc_deps.h"
#include "lib/ib/pci_address.h"
#include "lib/kube/pod_resources.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::kubelet {

class KubeletPods : public gc::Pods {
 public:
  explicit KubeletPods(kube::PodResources kubelet) : kubelet_(std::move(kubelet)) {}
  Result<std::vector<gc::PodDevices>> list_pods() override;

 private:
  kube::PodResources kubelet_;
};

// The devices of a pod. unavailable if the kubelet lists no pods at all, or not this one: it knows
// each pod that has an ADD underway, but not in the seconds after its own start.
Result<kube::PodDevices> find_pod(const kube::PodResources& kubelet, const std::string& name_space,
                                  const std::string& pod, Deadline deadline);

// The ids of a resource in all of the pod's containers.
std::vector<std::string> device_ids_of(const kube::PodDevices& pod, const std::string& resource);

// True if the pod was given this device, of any resource: an ID that is its PCI address.
bool has_device(const kube::PodDevices& pod, const ib::PciAddress& device);

// Answers which pod was given a device, of any resource: "team/a"; nothing: none. unavailable if
// the kubelet lists no pods at all, as after its start. For one preparation: a list serves for
// `max_age` (the kubelet refuses many calls in a row), and a kubelet that has not answered is not
// asked again.
std::function<Result<std::optional<std::string>>(const ib::PciAddress& device)> pod_finder(
    kube::PodResources kubelet, Duration max_age = std::chrono::seconds(1));

}  // namespace ibpod::agent::kubelet
