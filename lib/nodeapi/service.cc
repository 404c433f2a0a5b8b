#include "lib/nodeapi/service.h"

#include "api/ibpod/v1/node.grpc.pb.h"
#include "lib/nodeapi/messages.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"

#include <algorithm>
#include <chrono>

namespace ibpod::nodeapi {
namespace {

// Turns an answer into a response, or into why there is none.
template <typename T, typename Write>
grpc::Status answer(const Result<T>& result, Write write) {
  if (!result) return rpc::to_grpc(result.error());
  write(*result);
  return grpc::Status::OK;
}

// The client's deadline, at most kLongest from now.
Deadline deadline_of(const grpc::ServerContext& context) {
  constexpr Duration kLongest{60'000};
  const auto left = context.deadline() - std::chrono::system_clock::now();
  return Deadline::in(std::min(kLongest, std::chrono::duration_cast<Duration>(left)));
}

// A client that waits until its deadline must get the current state in time.
Deadline before(Deadline deadline) {
  const Duration left = deadline.left();
  return Deadline::in(left - std::min(Duration(500), left / 10));
}

// Answers with a result that is the message itself.
template <typename Message>
grpc::Status answer(Result<Message> result, Message* response) {
  if (!result) return rpc::to_grpc(result.error());
  *response = std::move(*result);
  return grpc::Status::OK;
}

class Service final : public v1::Node::Service {
 public:
  explicit Service(Node& node) : node_(node) {}

 private:
  grpc::Status ListDevices(grpc::ServerContext* context, const v1::ListDevicesRequest*,
                           v1::ListDevicesResponse* response) override {
    const rpc::Answering answering(*this);
    return answer(node_.devices(deadline_of(*context)), response);
  }

  grpc::Status ListAttachments(grpc::ServerContext* context, const v1::ListAttachmentsRequest*,
                               v1::ListAttachmentsResponse* response) override {
    const rpc::Answering answering(*this);
    return answer(node_.attachments(deadline_of(*context)), response);
  }

  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    const rpc::Answering answering(*this);
    return answer(node_.explain(request->device(), deadline_of(*context)), response);
  }

  grpc::Status Health(grpc::ServerContext* context, const v1::HealthRequest* request,
                      v1::HealthResponse* response) override {
    const rpc::Answering answering(*this);
    const Deadline deadline = deadline_of(*context);
    return answer(request->look() ? node_.fresh_health(deadline) : node_.health(deadline),
                  response);
  }

  grpc::Status DeviceOf(grpc::ServerContext* context, const v1::DeviceOfRequest* request,
                        v1::DeviceOfResponse* response) override {
    const rpc::Answering answering(*this);
    return answer(node_.device_of(from_message(*request), deadline_of(*context)),
                  [&](const std::string& device) { response->set_device(device); });
  }

  grpc::Status BindAttachment(grpc::ServerContext* context,
                              const v1::BindAttachmentRequest* request,
                              v1::AttachmentBinding* response) override {
    const rpc::Answering answering(*this);
    const Node::Wait wait = request->wait()           ? Node::Wait::verified
                            : request->wait_granted() ? Node::Wait::granted
                                                      : Node::Wait::no;
    return answer(node_.bind({request->container_id(), request->ifname(), request->attempt()}, wait,
                             before(deadline_of(*context))),
                  [&](const Binding& binding) { *response = to_message(binding); });
  }

  grpc::Status UnbindAttachment(grpc::ServerContext* context,
                                const v1::UnbindAttachmentRequest* request,
                                v1::AttachmentBinding* response) override {
    const rpc::Answering answering(*this);
    return answer(node_.unbind({request->container_id(), request->ifname(), request->attempt()},
                               before(deadline_of(*context))),
                  [&](const Binding& binding) { *response = to_message(binding); });
  }

  Node& node_;
};

}  // namespace

std::unique_ptr<grpc::Service> serve(Node& node) { return std::make_unique<Service>(node); }

}  // namespace ibpod::nodeapi
