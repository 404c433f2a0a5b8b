// UnaryCall: a call with one answer, which may come from any thread.
#pragma once

#include "lib/base/result.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"
#include "sm/api/call_limiter.h"

#include <memory>
#include <mutex>

#include <grpcpp/support/server_callback.h>

namespace ibpod::sm::api {

// Finishes a call once: with its answer, when the client is gone, or when the server ends.
class Responder {
 public:
  explicit Responder(grpc::ServerUnaryReactor& reactor) : reactor_(&reactor) {}

  // `prepare` writes the answer; it does not run if the call is finished already.
  template <typename Prepare>
  void respond(const grpc::Status& status, Prepare prepare) {
    grpc::ServerUnaryReactor* reactor = nullptr;
    {
      const std::lock_guard lock(mutex_);
      std::swap(reactor, reactor_);
    }
    if (reactor == nullptr) return;
    prepare();
    rpc::hand_over(reactor);  // also hands over the answer, which gRPC destroys
    reactor->Finish(status);
  }
  void respond(const grpc::Status& status) {
    respond(status, [] {});
  }
  bool is_done() const {
    const std::lock_guard lock(mutex_);
    return reactor_ == nullptr;
  }

 private:
  mutable std::mutex mutex_;
  grpc::ServerUnaryReactor* reactor_;  // null once it is finished
};

// Deletes itself when gRPC is done with it.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall() { rpc::hand_over(reactor()); }
  const std::shared_ptr<Responder>& responder() const { return responder_; }

  void OnCancel() override {
    rpc::take_over(reactor());
    responder_->respond(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    rpc::take_over(reactor());
    delete this;
  }

 private:
  grpc::ServerUnaryReactor* reactor() { return this; }
  std::shared_ptr<Responder> responder_ = std::make_shared<Responder>(*this);
};

// The state of a Done: the call's responder and its slot. A Done that is dropped without a call
// finishes the call, too, so that no client waits in vain.
struct PendingCall {
  std::shared_ptr<Responder> responder;
  std::shared_ptr<CallLimiter::Slot> slot;

  PendingCall(std::shared_ptr<Responder> to, std::shared_ptr<CallLimiter::Slot> taken)
      : responder(std::move(to)), slot(std::move(taken)) {}
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;
  PendingCall(PendingCall&&) = delete;
  PendingCall& operator=(PendingCall&&) = delete;
  ~PendingCall() {
    responder->respond(rpc::to_grpc(Error(Code::internal, "the call ended without an answer")));
  }
};

}  // namespace ibpod::sm::api
