#include "lib/kube/pod_resources.h"

#include "lib/kube/messages.h"
#include "lib/kube/podresources.grpc.pb.h"
#include "lib/rpc/channel.h"

namespace ibpod::kube {
namespace {

using Stub = v1::PodResourcesLister::Stub;

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

Result<std::optional<std::vector<PodDevices>>> PodResources::list(Deadline deadline) const {
  const v1::ListPodResourcesResponse answer =
      TRY(ask_kubelet(socket_, &Stub::List, v1::ListPodResourcesRequest(), deadline)
              .during("list pod resources"));
  return pods_of(answer);
}

}  // namespace ibpod::kube
