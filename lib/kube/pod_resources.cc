#include "lib/kube/pod_resources.h"

#include "lib/kube/podresources.grpc.pb.h"
#include "lib/rpc/channel.h"

namespace ibpod::kube {
namespace {

using Stub = v1::PodResourcesLister::Stub;

PodGiven pod_of(const v1::PodResources& message) {
  PodGiven pod{message.name(), message.namespace_(), {}};
  for (const v1::ContainerResources& entry : message.containers()) {
    ContainerGiven container{entry.name(), {}};
    for (const v1::ContainerDevices& given : entry.devices()) {
      const auto& ids = given.device_ids();
      container.devices.push_back({given.resource_name(), {ids.begin(), ids.end()}});
    }
    pod.containers.push_back(std::move(container));
  }
  return pod;
}

template <typename Request, typename Answer>
Result<Answer> ask_kubelet(const Path& socket,
                           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                        Answer*),
                           const Request& request, Deadline deadline) {
  const auto channel = TRY(rpc::connect_unix(socket));
  const auto stub = v1::PodResourcesLister::NewStub(channel);
  return rpc::ask(*stub, method, request, deadline);
}

}  // namespace

Result<std::optional<std::vector<PodGiven>>> PodResources::list(Deadline deadline) const {
  const v1::ListPodResourcesResponse answer =
      TRY(ask_kubelet(socket_, &Stub::List, v1::ListPodResourcesRequest(), deadline)
              .during("list pod resources"));
  std::vector<PodGiven> pods;
  for (const v1::PodResources& pod : answer.pod_resources()) pods.push_back(pod_of(pod));
  if (pods.empty()) return std::optional<std::vector<PodGiven>>();
  return std::optional(std::move(pods));
}

}  // namespace ibpod::kube
