#include "lib/nodeapi/client.h"

#include "lib/nodeapi/messages.h"
#include "lib/rpc/unary.h"

namespace ibpod::nodeapi {
namespace {

class Client final : public Node {
 public:
  explicit Client(Path socket) : socket_(std::move(socket)) {}

  Result<v1::ListDevicesResponse> devices(Deadline deadline) override {
    return ask<v1::ListDevicesResponse>("ListDevices", v1::ListDevicesRequest(), deadline);
  }
  Result<v1::ListAttachmentsResponse> attachments(Deadline deadline) override {
    return ask<v1::ListAttachmentsResponse>("ListAttachments", v1::ListAttachmentsRequest(),
                                            deadline);
  }
  Result<v1::ExplainResponse> explain(const std::string& device, Deadline deadline) override {
    v1::ExplainRequest request;
    request.set_device(device);
    return ask<v1::ExplainResponse>("Explain", request, deadline);
  }

  Result<v1::HealthResponse> health(Deadline deadline) override {
    return ask_health(false, deadline);
  }
  Result<v1::HealthResponse> fresh_health(Deadline deadline) override {
    return ask_health(true, deadline);
  }

  Result<std::string> device_of(const DeviceQuestion& question, Deadline deadline) override {
    const v1::DeviceOfResponse response =
        TRY(ask<v1::DeviceOfResponse>("DeviceOf", to_message(question), deadline));
    return response.device();
  }

  Result<Binding> bind(const AttachmentName& name, Wait wait, Deadline deadline) override {
    v1::BindAttachmentRequest request;
    request.set_container_id(name.container_id);
    request.set_ifname(name.ifname);
    request.set_attempt(name.attempt);
    request.set_wait(wait == Wait::verified);
    request.set_wait_granted(wait == Wait::granted);
    const v1::AttachmentBinding response =
        TRY(ask<v1::AttachmentBinding>("BindAttachment", request, deadline));
    return from_message(response);
  }

  Result<Binding> unbind(const AttachmentName& name, Deadline deadline) override {
    v1::UnbindAttachmentRequest request;
    request.set_container_id(name.container_id);
    request.set_ifname(name.ifname);
    request.set_attempt(name.attempt);
    const v1::AttachmentBinding response =
        TRY(ask<v1::AttachmentBinding>("UnbindAttachment", request, deadline));
    return from_message(response);
  }

 private:
  Result<v1::HealthResponse> ask_health(bool look, Deadline deadline) {
    v1::HealthRequest request;
    request.set_look(look);
    return ask<v1::HealthResponse>("Health", request, deadline);
  }

  template <typename Response, typename Request>
  Result<Response> ask(const std::string& method, const Request& request, Deadline deadline) {
    const std::string agent = "the node's agent at " + socket_.string();
    const std::string answer =
        TRY(rpc::unary(socket_, "/ibpod.v1.Node/" + method, request.SerializeAsString(), deadline)
                .during(agent));
    Response response;
    if (response.ParseFromString(answer)) return response;
    return Error(Code::internal, agent + ": cannot parse the answer to " + method);
  }

  Path socket_;
};

}  // namespace

std::unique_ptr<Node> connect(const Path& socket) { return std::make_unique<Client>(socket); }

}  // namespace ibpod::nodeapi
