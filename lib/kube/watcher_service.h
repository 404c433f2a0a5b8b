// WatcherService: pluginregistration.Registration, which the kubelet's plugin watcher calls on a
// socket that it has found.
#pragma once

#include "lib/base/files.h"
#include "lib/kube/pluginregistration.grpc.pb.h"
#include "lib/kube/registration_state.h"

namespace ibpod::kube {

class WatcherService final : public pluginregistration::Registration::CallbackService {
 public:
  // `socket` serves v1beta1.DevicePlugin too; its path as the kubelet has it.
  WatcherService(std::string resource, Path socket, RegistrationState& state)
      : resource_(std::move(resource)), socket_(std::move(socket)), state_(state) {}

  // The kubelet gives it a second.
  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                    const pluginregistration::InfoRequest* request,
                                    pluginregistration::PluginInfo* answer) override;
  grpc::ServerUnaryReactor* NotifyRegistrationStatus(
      grpc::CallbackServerContext* context, const pluginregistration::RegistrationStatus* status,
      pluginregistration::RegistrationStatusResponse* answer) override;

 private:
  const std::string resource_;
  const Path socket_;
  RegistrationState& state_;
};

}  // namespace ibpod::kube
