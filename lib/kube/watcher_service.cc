#include "lib/kube/watcher_service.h"

#include "lib/rpc/tsan_handover.h"

namespace ibpod::kube {
namespace {

grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* WatcherService::GetInfo(grpc::CallbackServerContext* context,
                                                  const pluginregistration::InfoRequest*,
                                                  pluginregistration::PluginInfo* answer) {
  const rpc::Answering answering(*this);
  answer->set_type("DevicePlugin");
  answer->set_name(resource_);
  answer->set_endpoint(socket_.string());
  answer->add_supported_versions("v1beta1");
  return finish(context);
}

grpc::ServerUnaryReactor* WatcherService::NotifyRegistrationStatus(
    grpc::CallbackServerContext* context, const pluginregistration::RegistrationStatus* status,
    pluginregistration::RegistrationStatusResponse*) {
  const rpc::Answering answering(*this);
  if (status->plugin_registered()) {
    state_.accepted();
  } else {
    state_.refused(Error(Code::internal, "the kubelet refused it: " + status->error()));
  }
  return finish(context);
}

}  // namespace ibpod::kube
