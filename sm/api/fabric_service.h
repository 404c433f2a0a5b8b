// FabricService: the gRPC service of ibpod-sm, with one handler for each call. A handler runs on a
// thread of gRPC's, reads the request and passes the CallGate; then the thread of `Target` calls
// the method that answers.
#pragma once

#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/call_context.h"
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/messages.h"
#include "lib/rpc/peer.h"
#include "lib/rpc/tsan_handover.h"
#include "sm/api/agent_names.h"
#include "sm/api/call_gate.h"
#include "sm/api/request_bytes.h"
#include "sm/api/unary_call.h"
#include "sm/api/watch_call.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace ibpod::sm::api {

struct ServiceSettings {
  std::string fabric = "default";
  // The most calls in progress, in total and per account; further ones are unavailable. A call
  // counts until it is answered, even if its client has gone. Part is reserved for calls with
  // is_reserved() and for administrators (CallLimiter::Quota).
  size_t calls = 8192;
  size_t calls_of_one = 512;
  size_t watches = 256;
  size_t watches_of_one = 16;
  // The most bytes of changes that wait for watchers; beyond it a watch ends (RESOURCE_EXHAUSTED,
  // which is unavailable). The bindings at the start of a watch do not count: another watch would
  // start with as many.
  WatchBytes::Limits watch_bytes = {};
  Duration longest{600'000};  // the deadline of a call whose client sets none, and the latest one
};

// The raw methods get their request as bytes (request_bytes.h), because it has repeated parts; the
// size of other requests is limited.
template <template <typename> typename... Raw>
struct Layered;
template <>
struct Layered<> {
  using Type = v1::Fabric::CallbackService;
};
template <template <typename> typename First, template <typename> typename... Raw>
struct Layered<First, Raw...> {
  using Type = First<typename Layered<Raw...>::Type>;
};
using CallbackService =
    Layered<v1::Fabric::WithRawCallbackMethod_CreatePartition,
            v1::Fabric::WithRawCallbackMethod_UpdatePartition,
            v1::Fabric::WithRawCallbackMethod_Bind, v1::Fabric::WithRawCallbackMethod_Sync,
            v1::Fabric::WithRawCallbackMethod_Observe,
            v1::Fabric::WithRawCallbackMethod_AllocateGuids, v1::Fabric::WithRawCallbackMethod_Plan,
            v1::Fabric::WithRawCallbackMethod_Explain,
            v1::Fabric::WithRawCallbackMethod_WatchBindings>::Type;

// The largest request of a call that waits for a port or a node, as it stays in memory with its
// unknown fields. A request with only known fields has passed their checks, and is far smaller.
inline constexpr size_t kLargestWaiting = 64 << 10;
template <typename Message, typename Asked>
Result<Asked> small(const Message& request, Result<Asked> asked) {
  const size_t size = request.ByteSizeLong();
  if (!asked || size <= kLargestWaiting) return asked;
  return fabricapi::wrong_number("request", static_cast<int64_t>(size),
                                 "at most " + std::to_string(kLargestWaiting) + " bytes");
}

// The Done of a call.
template <typename Response>
struct Reply {
  std::shared_ptr<PendingCall> call;
  Response* response;
  std::string cluster;  // of the names that the caller reads

  template <typename Value>
  void operator()(Result<Value> value) const {
    if (!value) return call->responder->respond(rpc::to_grpc(value.error()));
    remove_cluster(cluster, *value);
    call->responder->respond(grpc::Status::OK,
                             [&] { put(fabricapi::to_message(std::move(*value)), response); });
  }
  // Returns a function that is true once the client is gone.
  std::function<bool()> gone() const {
    return [responder = call->responder] { return responder->is_done(); };
  }
};

// `Target` has a method for each call, with the caller, the request and the Done, which it calls
// once.
template <typename Target>
class FabricService final : public CallbackService {
 public:
  // `target` is called on the thread that runs `deps.tasks`. It outlives the service, and each Done
  // that it has not called yet. Its deadlines are a little before the client's, so that answers
  // arrive.
  FabricService(Target& target, CallGate::Deps deps, const ServiceSettings& settings = {})
      : target_(target),
        settings_(settings),
        gate_(std::move(deps), settings.fabric),
        calls_(std::make_shared<CallLimiter>("calls", settings.calls, settings.calls_of_one)),
        watches_(
            std::make_shared<CallLimiter>("watches", settings.watches, settings.watches_of_one)),
        watch_bytes_(std::make_shared<WatchBytes>(settings.watch_bytes)) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;
  using Bytes = grpc::ByteBuffer;
  using Caller = fabricapi::Caller;

  Unary* CreatePartition(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::CreatePartitionRequest>(context, request, response, Call::create_partition,
                                            read_spec, &Target::create_partition);
  }

  Unary* UpdatePartition(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::UpdatePartitionRequest>(context, request, response, Call::update_partition,
                                            read_spec, &Target::update_partition);
  }

  Unary* DeletePartition(Context* context, const v1::DeletePartitionRequest* request,
                         v1::Partition* response) override {
    return call(context, request, response, Call::delete_partition,
                fabricapi::read_partition_name("name", request->name()),
                request->forget_ports() ? &Target::forget_ports : &Target::delete_partition);
  }

  Unary* ListPartitions(Context* context, const v1::ListPartitionsRequest* request,
                        v1::ListPartitionsResponse* response) override {
    return call(context, request, response, Call::list_partitions,
                fabricapi::read_page_request(request->page_size(), request->page_token()),
                &Target::list_partitions);
  }

  Unary* Bind(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::BindRequest>(
        context, request, response, Call::bind,
        [](const auto& asked) { return small(asked, fabricapi::from_message(asked)); },
        [until = deadline_of(*context)](Target& target, const Caller& caller, const auto& asked,
                                        const auto& done) {
          target.bind(caller, asked, fabricapi::CallContext(until, done.gone()), done);
        });
  }

  Unary* Unbind(Context* context, const v1::UnbindRequest* request,
                v1::Binding* response) override {
    return call(context, request, response, Call::unbind,
                small(*request, fabricapi::from_message(request->attachment())),
                until_deadline(*context, &Target::unbind));
  }

  Unary* GetBinding(Context* context, const v1::GetBindingRequest* request,
                    v1::Binding* response) override {
    return call(context, request, response, Call::get_binding,
                fabricapi::from_message(request->attachment()), &Target::get_binding);
  }

  Unary* ListBindings(Context* context, const v1::ListBindingsRequest* request,
                      v1::ListBindingsResponse* response) override {
    const auto page = fabricapi::read_page_request(request->page_size(), request->page_token());
    Result<fabricapi::BindingFilter> filter = fabricapi::from_message(request->filter());
    if (filter && !page) filter = page.error();
    return call(context, request, response, Call::list_bindings, std::move(filter),
                [page = page ? *page : fabricapi::PageRequest()](
                    Target& target, const Caller& caller, const auto& asked, const auto& done) {
                  target.list_bindings(caller, asked, page, done);
                });
  }

  WatchCall::Reactor* WatchBindings(Context* context, const Bytes* bytes) override {
    const rpc::Answering answering(*this);
    const Result<Caller> caller = gate_.authenticate(rpc::peer_of(*context));
    if (!caller) return WatchCall::refuse(caller.error());
    const auto request = parsed<v1::WatchBindingsRequest>(bytes);
    const std::string& fabric = request ? request->fabric() : settings_.fabric;
    Result<AdmittedCall> admitted = gate_.admit(*caller, fabric, Call::watch_bindings, *watches_);
    if (!admitted) return WatchCall::refuse(admitted.error());
    if (!request) return WatchCall::refuse(request.error());
    Result<fabricapi::BindingFilter> filter = fabricapi::from_message(request->filter());
    if (!filter) return WatchCall::refuse(filter.error());
    add_cluster(cluster_of_names(*caller), *filter);
    return WatchCall::begin(std::move(admitted->slot), watch_bytes_,
                            [&](WatchCall::OnChange on_change, WatchCall::OnBegun done) {
                              return gate_.submit(
                                  admitted->caller, Call::watch_bindings, subject_of(*filter),
                                  [&target = target_, caller = admitted->caller, filter = *filter,
                                   on_change = std::move(on_change), done = std::move(done)] {
                                    target.watch_bindings(caller, filter,
                                                          as_read_by(caller, on_change), done);
                                  });
                            });
  }

  Unary* Sync(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::SyncRequest>(context, request, response, Call::sync, read_message,
                                 &Target::sync);
  }

  Unary* Observe(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::ObserveRequest>(context, request, response, Call::observe, read_message,
                                    &Target::observe);
  }

  Unary* AllocateGuids(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::AllocateGuidsRequest>(context, request, response, Call::allocate_guids,
                                          read_message, &Target::allocate_guids);
  }

  Unary* ListNodes(Context* context, const v1::ListNodesRequest* request,
                   v1::ListNodesResponse* response) override {
    return call(context, request, response, Call::list_nodes, ok(),
                asking_nothing(&Target::list_nodes));
  }

  Unary* ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                    v1::FabricNode* response) override {
    return call(context, request, response, Call::forget_node,
                small(*request, fabricapi::from_message(*request)),
                until_deadline(*context, &Target::forget_node));
  }

  Unary* Plan(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::PlanRequest>(context, request, response, Call::plan, read_message,
                                 &Target::plan);
  }

  Unary* Explain(Context* context, const Bytes* request, Bytes* response) override {
    return call<v1::ExplainFabricRequest>(context, request, response, Call::explain, read_message,
                                          &Target::explain);
  }

  Unary* FabricHealth(Context* context, const v1::FabricHealthRequest* request,
                      v1::FabricHealthResponse* response) override {
    return call(context, request, response, Call::health, ok(), asking_nothing(&Target::health));
  }

  static constexpr auto read_message = [](const auto& message) {
    return fabricapi::from_message(message);
  };
  static constexpr auto read_spec = [](const auto& message) {
    return fabricapi::read_partition(message.partition()).during("partition");
  };

  // The callback of a watch, with the names as the caller reads them.
  static WatchCall::OnChange as_read_by(const Caller& caller, WatchCall::OnChange on_change) {
    const std::string cluster(cluster_of_names(caller));
    if (cluster.empty()) return on_change;
    return [cluster, on_change = std::move(on_change)](fabricapi::BindingChange change) {
      remove_cluster(cluster, change.binding);
      return on_change(change);
    };
  }

  // For methods of Target with other arguments than the caller, the request and the Done.
  template <typename Method>
  auto until_deadline(const Context& context, Method method) {
    return [until = deadline_of(context), method](Target& target, const Caller& caller,
                                                  const auto& asked, const auto& done) {
      (target.*method)(caller, asked, until, done);
    };
  }
  template <typename Method>
  static auto asking_nothing(Method method) {
    return [method](Target& target, const Caller& caller, Unit, const auto& done) {
      (target.*method)(caller, done);
    };
  }

  // A little before the client's, so that the answer arrives in time.
  Deadline deadline_of(const Context& context) {
    const rpc::Answering answering(*this);  // this runs before call()
    constexpr Duration kOnItsWay{500};
    const auto left =
        std::chrono::duration_cast<Duration>(context.deadline() - std::chrono::system_clock::now());
    return Deadline::in(std::min(settings_.longest, left - std::min(kOnItsWay, left / 10)));
  }

  // `asked`: the parsed request. `ask` gets the target, the caller, the request and the Done.
  template <typename Request, typename Response, typename Asked, typename Ask>
  Unary* call(Context* context, const Request* request, Response* response, Call call,
              Result<Asked> asked, Ask ask) {
    const rpc::Answering answering(*this);
    return answer(gate_.authenticate(rpc::peer_of(*context)), request->fabric(), response, call,
                  std::move(asked), std::move(ask));
  }

  template <typename Response, typename Asked, typename Ask>
  Unary* answer(const Result<Caller>& caller, const std::string& fabric, Response* response,
                Call call, Result<Asked> asked, Ask ask) {
    auto* unary = new UnaryCall();  // deleted in OnDone()
    const std::shared_ptr<Responder> responder = unary->responder();
    Result<AdmittedCall> admitted =
        caller ? gate_.admit(*caller, fabric, call, *calls_) : Result<AdmittedCall>(caller.error());
    Status passed = admitted ? ok() : Status(admitted.error());
    if (passed && !asked) passed = asked.error();
    if (!passed) {
      responder->respond(rpc::to_grpc(passed.error()));
      return unary;
    }
    const auto pending = std::make_shared<PendingCall>(responder, std::move(admitted->slot));
    const std::string cluster(cluster_of_names(admitted->caller));
    add_cluster(cluster, *asked);
    const CallSubject subject = subject_of(*asked);
    passed = gate_.submit(
        admitted->caller, call, subject,
        [&target = target_, ask = std::move(ask), caller = admitted->caller,
         asked = std::move(*asked), done = Reply<Response>{pending, response, cluster}] {
          std::invoke(ask, target, caller, asked, done);
        });
    if (!passed) responder->respond(rpc::to_grpc(passed.error()));
    return unary;
  }

  // call() for a request in bytes, which `read` checks. The bytes of an unknown caller are not
  // read.
  template <typename Request, typename Read, typename Ask>
  Unary* call(Context* context, const Bytes* bytes, Bytes* response, Call call, Read read,
              Ask ask) {
    using Asked = std::invoke_result_t<Read, const Request&>;
    const rpc::Answering answering(*this);
    const Result<Caller> caller = gate_.authenticate(rpc::peer_of(*context));
    const Result<Request> request =
        caller ? parsed<Request>(bytes) : Result<Request>(caller.error());
    Asked asked = request ? read(*request) : Asked(request.error());
    return answer(caller, request ? request->fabric() : settings_.fabric, response, call,
                  std::move(asked), std::move(ask));
  }

  Target& target_;
  const ServiceSettings settings_;
  const CallGate gate_;
  const std::shared_ptr<CallLimiter> calls_, watches_;
  const std::shared_ptr<WatchBytes> watch_bytes_;
};

}  // namespace ibpod::sm::api
