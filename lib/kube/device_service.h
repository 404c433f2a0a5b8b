// DeviceService: v1beta1.DevicePlugin, answered by a Resource.
#pragma once

#include "lib/kube/device_streams.h"
#include "lib/kube/resource.h"

namespace ibpod::kube {

class DeviceService final : public v1beta1::DevicePlugin::CallbackService {
 public:
  DeviceService(Resource& resource, RegistrationState& state)
      : resource_(resource), options_(resource.options()), streams_(state) {}

  // Sends the resource's devices to the streams if they are others than those published last.
  // invalid (list_message) changes nothing.
  Status publish();
  DeviceStreams& streams() { return streams_; }

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* GetDevicePluginOptions(Context* context, const v1beta1::Empty* request,
                                                   v1beta1::DevicePluginOptions* answer) override;
  DeviceStreams::Reactor* ListAndWatch(Context* context, const v1beta1::Empty* request) override;
  grpc::ServerUnaryReactor* GetPreferredAllocation(
      Context* context, const v1beta1::PreferredAllocationRequest* request,
      v1beta1::PreferredAllocationResponse* answer) override;
  grpc::ServerUnaryReactor* Allocate(Context* context, const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* answer) override;
  grpc::ServerUnaryReactor* PreStartContainer(Context* context,
                                              const v1beta1::PreStartContainerRequest* request,
                                              v1beta1::PreStartContainerResponse* answer) override;

 private:
  Status prefer(const v1beta1::PreferredAllocationRequest& request,
                v1beta1::PreferredAllocationResponse& answer);
  Status allocate(const v1beta1::AllocateRequest& request, v1beta1::AllocateResponse& answer);

  Resource& resource_;
  const Options options_;
  DeviceStreams streams_;
  std::mutex publishing_;  // so that an older list never follows a newer one
  std::optional<std::string> published_;
};

}  // namespace ibpod::kube
