// FakeService: a service of the fabric's API for tests of its clients. It serves one fabric and
// answers at once. A test overrides the methods that it needs; all others are refused.
#pragma once

#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/messages.h"
#include "lib/rpc/server.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"
#include "tests/support/temp_folder.h"

#include <memory>
#include <optional>
#include <string>

namespace ibpod::fabricapi {

class FakeService : public v1::Fabric::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  // The fabric that it serves.
  std::string served = "default";
  // The error of every call, whatever the fabric.
  std::optional<Error> denial;
  // The error of a method that the test does not override.
  Error refusal = Error(Code::unsupported, "it is not asked that");

  Reactor* CreatePartition(Context* context, const v1::CreatePartitionRequest* request,
                           v1::Partition* response) override {
    return refuse(context, request, response);
  }
  Reactor* UpdatePartition(Context* context, const v1::UpdatePartitionRequest* request,
                           v1::Partition* response) override {
    return refuse(context, request, response);
  }
  Reactor* DeletePartition(Context* context, const v1::DeletePartitionRequest* request,
                           v1::Partition* response) override {
    return refuse(context, request, response);
  }
  Reactor* ListPartitions(Context* context, const v1::ListPartitionsRequest* request,
                          v1::ListPartitionsResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* Bind(Context* context, const v1::BindRequest* request, v1::Binding* response) override {
    return refuse(context, request, response);
  }
  Reactor* Unbind(Context* context, const v1::UnbindRequest* request,
                  v1::Binding* response) override {
    return refuse(context, request, response);
  }
  Reactor* GetBinding(Context* context, const v1::GetBindingRequest* request,
                      v1::Binding* response) override {
    return refuse(context, request, response);
  }
  Reactor* ListBindings(Context* context, const v1::ListBindingsRequest* request,
                        v1::ListBindingsResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* Sync(Context* context, const v1::SyncRequest* request,
                v1::SyncResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* Observe(Context* context, const v1::ObserveRequest* request,
                   v1::ObserveResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* AllocateGuids(Context* context, const v1::AllocateGuidsRequest* request,
                         v1::AllocateGuidsResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* ListNodes(Context* context, const v1::ListNodesRequest* request,
                     v1::ListNodesResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                      v1::FabricNode* response) override {
    return refuse(context, request, response);
  }
  Reactor* Plan(Context* context, const v1::PlanRequest* request,
                v1::PlanResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* Explain(Context* context, const v1::ExplainFabricRequest* request,
                   v1::ExplainFabricResponse* response) override {
    return refuse(context, request, response);
  }
  Reactor* FabricHealth(Context* context, const v1::FabricHealthRequest* request,
                        v1::FabricHealthResponse* response) override {
    return refuse(context, request, response);
  }

 protected:
  // `make`: the answer to the request.
  template <typename Request, typename Message, typename Make>
  Reactor* answer(Context* context, const Request* request, Message* response, Make make) {
    const rpc::Answering answering(*this);
    Reactor* const reactor = context->DefaultReactor();
    reactor->Finish(status_of(*request, response, make));
    return reactor;
  }

 private:
  template <typename Request, typename Message>
  Reactor* refuse(Context* context, const Request* request, Message* response) {
    return answer(context, request, response, [&] { return Result<Message>(refusal); });
  }
  template <typename Request, typename Message, typename Make>
  grpc::Status status_of(const Request& request, Message* response, const Make& make) {
    if (denial) return rpc::to_grpc(*denial);
    if (request.fabric() != served) {
      const std::string expected = "\"" + served + "\", the fabric of this service";
      return rpc::to_grpc(
          Error(Code::not_found, wrong("fabric", request.fabric(), expected).text()));
    }
    const auto value = make();
    if (!value) return rpc::to_grpc(value.error());
    if constexpr (requires { to_message(*value); })
      *response = to_message(*value);
    else
      *response = *value;
    return grpc::Status::OK;
  }
};

// A service on a unix socket.
template <typename Service>
struct Served {
  TempFolder folder;
  Path socket = folder.path() / "sm.sock";
  Service service;
  std::unique_ptr<rpc::Server> server = rpc::Server::serve(socket, {&service}).value();
};

}  // namespace ibpod::fabricapi
