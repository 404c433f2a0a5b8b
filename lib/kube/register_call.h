// RegisterCall: v1beta1.Registration.Register on its way to the kubelet.
#pragma once

#include "lib/base/files.h"
#include "lib/kube/deviceplugin.grpc.pb.h"
#include "lib/kube/registration_state.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace ibpod::kube {

// Tells the standing the answer. The kubelet calls the plugin back before it answers.
class RegisterCall {
 public:
  // not_found or unavailable where no kubelet is. `standing` outlives the call.
  static Result<std::unique_ptr<RegisterCall>> start(const Path& kubelet,
                                                     v1beta1::RegisterRequest request,
                                                     RegistrationState& state);
  RegisterCall(const RegisterCall&) = delete;
  RegisterCall& operator=(const RegisterCall&) = delete;
  RegisterCall(RegisterCall&&) = delete;
  RegisterCall& operator=(RegisterCall&&) = delete;
  // Cancels it, if it is still on its way.
  ~RegisterCall();

 private:
  RegisterCall(const std::shared_ptr<grpc::Channel>& channel, v1beta1::RegisterRequest request,
               RegistrationState& state);
  void end(const grpc::Status& status);

  RegistrationState& state_;
  const v1beta1::RegisterRequest request_;
  const std::unique_ptr<v1beta1::Registration::Stub> stub_;
  grpc::ClientContext context_;
  v1beta1::Empty answer_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
};

}  // namespace ibpod::kube
