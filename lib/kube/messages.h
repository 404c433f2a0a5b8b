// The device plugin API's messages, from and to what a Resource speaks.
#pragma once

#include "lib/kube/cri.pb.h"
#include "lib/kube/deviceplugin.pb.h"
#include "lib/kube/pod_resources.h"
#include "lib/kube/podresources.pb.h"
#include "lib/kube/resource.h"

namespace ibpod::kube {

// The limit of a ListAndWatch message, in bytes: that of the kubelet's gRPC client.
inline constexpr size_t kLargestList = 4 << 20;

// Sorted by id. invalid where an id is empty, longer than 63 bytes or there twice, and where the
// list is longer than the kubelet takes.
Result<v1beta1::ListAndWatchResponse> list_message(std::vector<Device> devices);

v1beta1::ContainerAllocateResponse allocation_message(const Allocation& allocation);
v1beta1::DevicePluginOptions options_message(const Options& options);

template <typename Repeated>
DeviceIds device_ids(const Repeated& ids) {
  return {ids.begin(), ids.end()};
}

// Nothing where no pod is named: see PodResources::list().
std::optional<std::vector<PodDevices>> pods_of(const v1::ListPodResourcesResponse& answer);

// The ids of the sandboxes that are ready, also where the runtime has passed over the filter.
std::vector<std::string> ready_sandboxes_of(const runtime::v1::ListPodSandboxResponse& answer);

}  // namespace ibpod::kube
