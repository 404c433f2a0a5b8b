// What the kubelet and the container runtime answer, from their messages.
#pragma once

#include "lib/kube/cri.pb.h"
#include "lib/kube/pod_resources.h"
#include "lib/kube/podresources.pb.h"

namespace ibpod::kube {

// Nothing where no pod is named: see PodResources::list().
std::optional<std::vector<PodDevices>> pods_of(const v1::ListPodResourcesResponse& answer);

// The ids of the sandboxes that are ready, also where the runtime has passed over the filter.
std::vector<std::string> ready_sandboxes_of(const runtime::v1::ListPodSandboxResponse& answer);

}  // namespace ibpod::kube
