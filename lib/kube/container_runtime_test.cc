#include "lib/kube/container_runtime.h"

#include "lib/kube/cri.grpc.pb.h"
#include "tests/support/temp_folder.h"

#include <memory>

#include <doctest/doctest.h>
#include <grpcpp/server_builder.h>

namespace ibpod::kube {
namespace {

namespace cri = runtime::v1;

// A runtime with three sandboxes, of which one is not ready; one that knows no filter, where asked.
class Runtime final : public cri::RuntimeService::Service {
 public:
  Runtime(const Path& socket, bool filters, grpc::Status says = grpc::Status::OK)
      : filters_(filters), says_(std::move(says)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket.string(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Runtime() override { server_->Shutdown(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  grpc::Status ListPodSandbox(grpc::ServerContext*, const cri::ListPodSandboxRequest* request,
                              cri::ListPodSandboxResponse* answer) override {
    for (const auto& [id, state] :
         {std::pair("one", cri::SANDBOX_READY), std::pair("dead", cri::SANDBOX_NOTREADY),
          std::pair("two", cri::SANDBOX_READY)}) {
      if (filters_ && request->filter().has_state() && request->filter().state().state() != state)
        continue;
      cri::PodSandbox& sandbox = *answer->add_items();
      sandbox.set_id(id);
      sandbox.set_state(state);
    }
    return says_;
  }

 private:
  const bool filters_;
  const grpc::Status says_;
  std::unique_ptr<grpc::Server> server_;
};

Deadline soon() { return Deadline::in(Duration(20'000)); }

TEST_CASE("the sandboxes that are ready are listed, and no others") {
  const TempFolder folder;
  const Path socket = folder.path() / "runtime.sock";
  for (const bool filters : {true, false}) {
    const Runtime runtime(socket, filters);
    CHECK(ContainerRuntime(socket).ready_sandboxes(soon()).value() ==
          std::vector<std::string>{"one", "two"});
  }
}

TEST_CASE("a runtime that refuses, or is away, is an error") {
  const TempFolder folder;
  const Path socket = folder.path() / "runtime.sock";
  CHECK_FALSE(ContainerRuntime(socket).ready_sandboxes(soon()));
  const Runtime runtime(socket, true,
                        {grpc::StatusCode::UNAVAILABLE, "server is not initialized yet"});
  CHECK(ContainerRuntime(socket).ready_sandboxes(soon()).error().text() ==
        "list sandboxes: server is not initialized yet");
}

}  // namespace
}  // namespace ibpod::kube
