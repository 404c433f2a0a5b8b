#include "lib/kube/register_call.h"

#include "lib/rpc/channel.h"
#include "lib/rpc/tsan_handover.h"

namespace ibpod::kube {
namespace {

// The kubelet dials back within 10 s, then asks for the options.
constexpr Duration kRegisterTimeout{15'000};

}  // namespace

Result<std::unique_ptr<RegisterCall>> RegisterCall::start(const Path& kubelet,
                                                          v1beta1::RegisterRequest request,
                                                          RegistrationState& state) {
  const std::shared_ptr<grpc::Channel> channel = TRY(rpc::connect_unix(kubelet));
  return std::unique_ptr<RegisterCall>(new RegisterCall(channel, std::move(request), state));
}

RegisterCall::RegisterCall(const std::shared_ptr<grpc::Channel>& channel,
                           v1beta1::RegisterRequest request, RegistrationState& state)
    : state_(state), request_(std::move(request)), stub_(v1beta1::Registration::NewStub(channel)) {
  rpc::set_deadline(context_, Deadline::in(kRegisterTimeout));
  rpc::hand_over(this);
  stub_->async()->Register(&context_, &request_, &answer_,
                           [this](const grpc::Status& status) { end(status); });
}

void RegisterCall::end(const grpc::Status& status) {
  rpc::take_over(this);
  const Status answered = rpc::from_grpc(status).during("register with the kubelet");
  if (answered) {
    state_.accepted();
  } else {
    state_.refused(answered.error());
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  ended_.notify_all();
}

RegisterCall::~RegisterCall() {
  context_.TryCancel();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return over_; });
}

}  // namespace ibpod::kube
