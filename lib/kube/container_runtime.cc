#include "lib/kube/container_runtime.h"

#include "lib/kube/cri.grpc.pb.h"
#include "lib/kube/messages.h"
#include "lib/rpc/channel.h"

namespace ibpod::kube {

namespace cri = runtime::v1;

Result<std::vector<std::string>> ContainerRuntime::ready_sandboxes(Deadline deadline) const {
  using Stub = cri::RuntimeService::Stub;
  cri::ListPodSandboxRequest request;
  request.mutable_filter()->mutable_state()->set_state(cri::SANDBOX_READY);
  const auto channel = TRY(rpc::connect_unix(socket_));
  const auto stub = cri::RuntimeService::NewStub(channel);
  const cri::ListPodSandboxResponse answer =
      TRY(rpc::ask(*stub, &Stub::ListPodSandbox, request, deadline).during("list sandboxes"));
  return ready_sandboxes_of(answer);
}

}  // namespace ibpod::kube
