// The services of a FakeKubelet.
#pragma once

#include "tests/support/fake_kubelet.h"

namespace ibpod {

// kubelet.sock in device-plugins. It dials back before it answers.
class FakeKubelet::Registration final : public v1beta1::Registration::Service {
 public:
  explicit Registration(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty*) override {
    if (request->version() != "v1beta1") {
      return {grpc::StatusCode::UNKNOWN, "version " + request->version() + " is not supported"};
    }
    return kubelet_.admit(request->resource_name(),
                          kubelet_.root() / "device-plugins" / request->endpoint());
  }

 private:
  FakeKubelet& kubelet_;
};

class FakeKubelet::Pods final : public ::v1::PodResourcesLister::Service {
 public:
  explicit Pods(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status List(grpc::ServerContext*, const ::v1::ListPodResourcesRequest*,
                    ::v1::ListPodResourcesResponse* answer) override {
    const std::lock_guard lock(kubelet_.mutex_);
    *answer = kubelet_.pods_;
    return kubelet_.pods_status_;
  }

 private:
  FakeKubelet& kubelet_;
};

}  // namespace ibpod
