// The node's pods by the kubelet's word.
#pragma once

#include "agent/sweep/sweep_world.h"
#include "lib/kube/pod_resources.h"

namespace ibpod::agent {

class KubeletPods : public Pods {
 public:
  explicit KubeletPods(kube::PodResources kubelet) : kubelet_(std::move(kubelet)) {}
  Result<std::vector<PodDevices>> list_pods() override;

 private:
  kube::PodResources kubelet_;
};

// The ids of a resource that a pod was given, in all of its containers. unavailable where the
// kubelet named no pods at all, or not this one: it knows each pod that has an ADD underway, but
// not in the seconds after its own start.
Result<std::vector<std::string>> ids_of(const kube::PodResources& kubelet,
                                        const std::string& name_space, const std::string& pod,
                                        const std::string& resource, Deadline deadline);

}  // namespace ibpod::agent
