// A served Echo, for the tests of server and channel.
#pragma once

#include "lib/rpc/peer.h"
#include "lib/rpc/server.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"
#include "tests/support/echo.grpc.pb.h"
#include "tests/support/temp_folder.h"

#include <mutex>

namespace ibpod::rpc {

class EchoService final : public echo::Echo::CallbackService {
 public:
  grpc::ServerUnaryReactor* Say(grpc::CallbackServerContext* context, const echo::Words* request,
                                echo::Words* answer) override {
    const Answering answering(*this);
    {
      const std::lock_guard lock(mutex_);
      last_peer_ = peer_of(*context);
    }
    *answer = *request;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(request->code() == 0 ? grpc::Status::OK
                                         : to_grpc(Error(Code::busy, request->text())));
    return reactor;
  }
  grpc::ServerWriteReactor<echo::Words>* Listen(grpc::CallbackServerContext*,
                                                const echo::Words* request) override {
    const Answering answering(*this);
    return new Stream(*request);
  }

  // The caller of the last Say().
  Peer last_peer() const {
    const std::lock_guard lock(mutex_);
    return last_peer_;
  }

 private:
  class Stream final : public grpc::ServerWriteReactor<echo::Words> {
   public:
    explicit Stream(echo::Words words) : words_(std::move(words)) {
      hand_over(this);
      StartWrite(&words_);
    }
    void OnCancel() override { Finish(grpc::Status::CANCELLED); }
    void OnDone() override {
      take_over(this);
      delete this;
    }

   private:
    echo::Words words_;
  };
  mutable std::mutex mutex_;
  Peer last_peer_;
};

struct EchoFixture {
  TempFolder folder;
  Path socket = folder.path() / "echo.sock";
  EchoService service;
  std::unique_ptr<Server> server = Server::serve(socket, {&service}).value();
};

}  // namespace ibpod::rpc
