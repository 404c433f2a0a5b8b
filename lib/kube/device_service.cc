#include "lib/kube/device_service.h"

#include "lib/kube/messages.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"

namespace ibpod::kube {
namespace {

grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context, const Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status ? grpc::Status::OK : rpc::to_grpc(status.error()));
  return reactor;
}

}  // namespace

Status DeviceService::publish() {
  const std::lock_guard lock(publishing_);
  v1beta1::ListAndWatchResponse list = TRY(list_message(resource_.devices()));
  std::string encoded = list.SerializeAsString();
  if (published_ == encoded) return ok();
  published_ = std::move(encoded);
  streams_.publish(std::move(list));
  return ok();
}

grpc::ServerUnaryReactor* DeviceService::GetDevicePluginOptions(
    Context* context, const v1beta1::Empty*, v1beta1::DevicePluginOptions* answer) {
  const rpc::Answering answering(*this);
  *answer = options_message(options_);
  return finish(context, ok());
}

DeviceStreams::Reactor* DeviceService::ListAndWatch(Context*, const v1beta1::Empty*) {
  const rpc::Answering answering(*this);
  return streams_.add();
}

grpc::ServerUnaryReactor* DeviceService::GetPreferredAllocation(
    Context* context, const v1beta1::PreferredAllocationRequest* request,
    v1beta1::PreferredAllocationResponse* answer) {
  const rpc::Answering answering(*this);
  return finish(context, prefer(*request, *answer));
}

Status DeviceService::prefer(const v1beta1::PreferredAllocationRequest& request,
                             v1beta1::PreferredAllocationResponse& answer) {
  for (const auto& container : request.container_requests()) {
    if (container.allocation_size() < 0) {
      return Error(Code::invalid, "allocation_size: expected 0 or more, got " +
                                      std::to_string(container.allocation_size()));
    }
    const DeviceIds preferred = TRY(resource_.prefer(
        device_ids(container.available_deviceids()), device_ids(container.must_include_deviceids()),
        static_cast<size_t>(container.allocation_size())));
    auto& ids = *answer.add_container_responses()->mutable_deviceids();
    ids.Assign(preferred.begin(), preferred.end());
  }
  return ok();
}

grpc::ServerUnaryReactor* DeviceService::Allocate(Context* context,
                                                  const v1beta1::AllocateRequest* request,
                                                  v1beta1::AllocateResponse* answer) {
  const rpc::Answering answering(*this);
  return finish(context, allocate(*request, *answer));
}

Status DeviceService::allocate(const v1beta1::AllocateRequest& request,
                               v1beta1::AllocateResponse& answer) {
  for (const auto& container : request.container_requests()) {
    const Allocation allocation = TRY(resource_.allocate(device_ids(container.devices_ids())));
    *answer.add_container_responses() = allocation_message(allocation);
  }
  return ok();
}

grpc::ServerUnaryReactor* DeviceService::PreStartContainer(
    Context* context, const v1beta1::PreStartContainerRequest* request,
    v1beta1::PreStartContainerResponse*) {
  const rpc::Answering answering(*this);
  return finish(context, resource_.pre_start(device_ids(request->devices_ids())));
}

}  // namespace ibpod::kube
