#include "lib/fabricapi/service.h"

#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/call_gate.h"
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/messages.h"
#include "lib/fabricapi/request_bytes.h"
#include "lib/fabricapi/unary_call.h"
#include "lib/fabricapi/watch_call.h"

#include <algorithm>
#include <chrono>
#include <type_traits>

namespace ibpod::fabricapi {
namespace {

using Context = grpc::CallbackServerContext;
using rpc::peer_of;
using Unary = grpc::ServerUnaryReactor;
using Bytes = grpc::ByteBuffer;

// Requests that have parts come as bytes (request_parts.h); the others take no more than their own.
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
using Base =
    Layered<v1::Fabric::WithRawCallbackMethod_CreatePartition,
            v1::Fabric::WithRawCallbackMethod_UpdatePartition,
            v1::Fabric::WithRawCallbackMethod_Bind, v1::Fabric::WithRawCallbackMethod_Sync,
            v1::Fabric::WithRawCallbackMethod_Observe,
            v1::Fabric::WithRawCallbackMethod_AllocateGuids, v1::Fabric::WithRawCallbackMethod_Plan,
            v1::Fabric::WithRawCallbackMethod_Explain,
            v1::Fabric::WithRawCallbackMethod_WatchBindings>::Type;

// The Done that the Fabric is given.
template <typename Value, typename Response>
struct Reply {
  std::shared_ptr<PendingCall> call;
  Response* response;

  void operator()(Result<Value> value) const {
    if (!value) return call->responder->respond(rpc::to_grpc(value.error()));
    call->responder->respond(grpc::Status::OK, [&] { put(to_message(*value), response); });
  }
  // True once the client is gone.
  std::function<bool()> gone() const {
    return [responder = call->responder] { return responder->is_done(); };
  }
};

// A call that waits for a port or a node keeps its request in memory, with its unknown fields. A
// request with known fields only has passed their checks, and is far smaller than this.
constexpr size_t kLargestWaiting = 64 << 10;
template <typename Message, typename Asked>
Result<Asked> small(const Message& request, Result<Asked> asked) {
  const size_t size = request.ByteSizeLong();
  if (!asked || size <= kLargestWaiting) return asked;
  return wrong_number("request", static_cast<int64_t>(size),
                      "at most " + std::to_string(kLargestWaiting) + " bytes");
}

class Service final : public Base {
 public:
  Service(Fabric& fabric, Identify identify, const ServiceSettings& settings)
      : fabric_(fabric),
        settings_(settings),
        gate_(std::move(identify), settings.fabric),
        calls_(std::make_shared<CallLimiter>("calls", settings.calls, settings.calls_of_one)),
        watches_(
            std::make_shared<CallLimiter>("watches", settings.watches, settings.watches_of_one)),
        watch_bytes_(std::make_shared<WatchBytes>(settings.watch_bytes)) {}

 private:
  // A little before the client's, or the answer would not arrive in time.
  Deadline deadline_of(const Context& context) {
    const rpc::Answering answering(*this);  // it is asked for before call() is
    constexpr Duration kOnItsWay{500};
    const auto left =
        std::chrono::duration_cast<Duration>(context.deadline() - std::chrono::system_clock::now());
    return Deadline::in(std::min(settings_.longest, left - std::min(kOnItsWay, left / 10)));
  }

  // Calls the Fabric: `ask` is given the caller, its request and the Done.
  template <typename Value, typename Request, typename Response, typename Asked, typename Ask>
  Unary* call(Context* context, const Request* request, Response* response, Result<Asked> asked,
              Ask ask, CallLimiter::Quota quota = CallLimiter::Quota::ordinary) {
    const rpc::Answering answering(*this);
    auto* unary = new UnaryCall();  // until OnDone()
    const std::shared_ptr<Responder> responder = unary->responder();
    Result<AdmittedCall> admitted =
        gate_.admit(peer_of(*context), request->fabric(), *calls_, quota);
    if (!admitted) {
      responder->respond(rpc::to_grpc(admitted.error()));
    } else if (!asked) {
      responder->respond(rpc::to_grpc(asked.error()));
    } else {
      auto pending_call = std::make_shared<PendingCall>(responder, std::move(admitted->slot));
      ask(admitted->caller, std::move(asked).value(),
          Reply<Value, Response>{std::move(pending_call), response});
    }
    return unary;
  }

  // The same of a request that comes as bytes: `read` checks it. The caller is looked at first also
  // where there are too many parts.
  template <typename Value, typename Request, typename Read, typename Ask>
  Unary* call(Context* context, const Bytes* bytes, Bytes* response, Read read, Ask ask,
              CallLimiter::Quota quota = CallLimiter::Quota::ordinary) {
    using Asked = std::invoke_result_t<Read, const Request&>;
    Result<Request> request = parsed<Request>(bytes);
    Request nothing;
    nothing.set_fabric(settings_.fabric);
    Asked asked = request ? read(*request) : Asked(request.error());
    return call<Value>(context, request ? &*request : &nothing, response, std::move(asked),
                       std::move(ask), quota);
  }

  Unary* CreatePartition(Context* context, const Bytes* request, Bytes* response) override {
    return call<fabric::PartitionStatus, v1::CreatePartitionRequest>(
        context, request, response,
        [](const auto& asked) { return read_partition(asked.partition()).during("partition"); },
        [this](const Caller& caller, fabric::Partition partition, auto done) {
          fabric_.create_partition(caller, std::move(partition), std::move(done));
        });
  }

  Unary* UpdatePartition(Context* context, const Bytes* request, Bytes* response) override {
    return call<fabric::PartitionStatus, v1::UpdatePartitionRequest>(
        context, request, response,
        [](const auto& asked) { return read_partition(asked.partition()).during("partition"); },
        [this](const Caller& caller, fabric::Partition partition, auto done) {
          fabric_.update_partition(caller, std::move(partition), std::move(done));
        });
  }

  Unary* DeletePartition(Context* context, const v1::DeletePartitionRequest* request,
                         v1::Partition* response) override {
    return call<fabric::PartitionStatus>(
        context, request, response, read_partition_name("name", request->name()),
        [this, forget = request->forget_ports()](const Caller& caller, std::string name,
                                                 auto done) {
          if (forget) return fabric_.forget_ports(caller, std::move(name), std::move(done));
          fabric_.delete_partition(caller, std::move(name), std::move(done));
        });
  }

  Unary* ListPartitions(Context* context, const v1::ListPartitionsRequest* request,
                        v1::ListPartitionsResponse* response) override {
    return call<ListPage<fabric::PartitionStatus>>(
        context, request, response, read_page_request(request->page_size(), request->page_token()),
        [this](const Caller& caller, PageRequest page, auto done) {
          fabric_.list_partitions(caller, std::move(page), std::move(done));
        });
  }

  Unary* Bind(Context* context, const Bytes* request, Bytes* response) override {
    return call<fabric::Binding, v1::BindRequest>(
        context, request, response,
        [](const auto& asked) { return small(asked, from_message(asked)); },
        [this, until = deadline_of(*context)](const Caller& caller, BindRequest bind, auto done) {
          CallContext call_context(until, done.gone());
          fabric_.bind(caller, std::move(bind), std::move(call_context), std::move(done));
        });
  }

  Unary* Unbind(Context* context, const v1::UnbindRequest* request,
                v1::Binding* response) override {
    return call<fabric::Binding>(
        context, request, response, small(*request, from_message(request->attachment())),
        [this, deadline = deadline_of(*context)](const Caller& caller,
                                                 fabric::Attachment attachment, auto done) {
          fabric_.unbind(caller, std::move(attachment), deadline, std::move(done));
        },
        CallLimiter::Quota::reserved);
  }

  Unary* GetBinding(Context* context, const v1::GetBindingRequest* request,
                    v1::Binding* response) override {
    return call<fabric::Binding>(
        context, request, response, from_message(request->attachment()),
        [this](const Caller& caller, fabric::Attachment attachment, auto done) {
          fabric_.get_binding(caller, std::move(attachment), std::move(done));
        });
  }

  Unary* ListBindings(Context* context, const v1::ListBindingsRequest* request,
                      v1::ListBindingsResponse* response) override {
    struct Asked {
      BindingFilter filter;
      PageRequest page;
    };
    const auto read = [&]() -> Result<Asked> {
      Asked asked;
      asked.filter = TRY(from_message(request->filter()));
      asked.page = TRY(read_page_request(request->page_size(), request->page_token()));
      return asked;
    };
    return call<ListPage<fabric::Binding>>(
        context, request, response, read(), [this](const Caller& caller, Asked asked, auto done) {
          fabric_.list_bindings(caller, std::move(asked.filter), std::move(asked.page),
                                std::move(done));
        });
  }

  WatchCall::Reactor* WatchBindings(Context* context, const Bytes* bytes) override {
    const rpc::Answering answering(*this);
    const auto request = parsed<v1::WatchBindingsRequest>(bytes);
    const std::string& meant = request ? request->fabric() : settings_.fabric;
    Result<AdmittedCall> admitted = gate_.admit(peer_of(*context), meant, *watches_);
    if (!admitted) return WatchCall::refuse(admitted.error());
    if (!request) return WatchCall::refuse(request.error());
    Result<BindingFilter> filter = from_message(request->filter());
    if (!filter) return WatchCall::refuse(filter.error());
    return WatchCall::begin(fabric_, admitted->caller, std::move(*filter),
                            std::move(admitted->slot), watch_bytes_);
  }

  Unary* Sync(Context* context, const Bytes* request, Bytes* response) override {
    return call<SyncAnswer, v1::SyncRequest>(
        context, request, response, [](const auto& asked) { return from_message(asked); },
        [this](const Caller& caller, SyncRequest sync, auto done) {
          fabric_.sync(caller, std::move(sync), std::move(done));
        },
        CallLimiter::Quota::reserved);
  }

  Unary* Observe(Context* context, const Bytes* request, Bytes* response) override {
    return call<ObserveAnswer, v1::ObserveRequest>(
        context, request, response, [](const auto& asked) { return from_message(asked); },
        [this](const Caller& caller, ObserveRequest observe, auto done) {
          fabric_.observe(caller, std::move(observe), std::move(done));
        });
  }

  Unary* AllocateGuids(Context* context, const Bytes* request, Bytes* response) override {
    return call<std::vector<AllocatedGuid>, v1::AllocateGuidsRequest>(
        context, request, response, [](const auto& asked) { return from_message(asked); },
        [this](const Caller& caller, AllocateRequest allocate, auto done) {
          fabric_.allocate_guids(caller, std::move(allocate), std::move(done));
        });
  }

  Unary* ListNodes(Context* context, const v1::ListNodesRequest* request,
                   v1::ListNodesResponse* response) override {
    return call<std::vector<Node>>(
        context, request, response, Result<Unit>(Unit()),
        [this](const Caller& caller, Unit, auto done) { fabric_.list_nodes(caller, done); });
  }

  Unary* ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                    v1::FabricNode* response) override {
    return call<Node>(
        context, request, response, small(*request, read_name("node", request->node())),
        [this, deadline = deadline_of(*context), force = request->force()](
            const Caller& caller, std::string node, auto done) {
          fabric_.forget_node(caller, {std::move(node), force}, deadline, std::move(done));
        });
  }

  Unary* Plan(Context* context, const Bytes* request, Bytes* response) override {
    return call<fabricapi::Plan, v1::PlanRequest>(
        context, request, response, [](const auto& asked) { return from_message(asked); },
        [this](const Caller& caller, PlanRequest plan, auto done) {
          fabric_.plan(caller, std::move(plan), std::move(done));
        });
  }

  Unary* Explain(Context* context, const Bytes* request, Bytes* response) override {
    return call<Explanation, v1::ExplainFabricRequest>(
        context, request, response, [](const auto& asked) { return from_message(asked); },
        [this](const Caller& caller, ExplainRequest explain, auto done) {
          fabric_.explain(caller, std::move(explain), std::move(done));
        });
  }

  Unary* FabricHealth(Context* context, const v1::FabricHealthRequest* request,
                      v1::FabricHealthResponse* response) override {
    return call<fabricapi::FabricHealth>(
        context, request, response, Result<Unit>(Unit()),
        [this](const Caller& caller, Unit, auto done) { fabric_.health(caller, done); });
  }

  Fabric& fabric_;
  const ServiceSettings settings_;
  const CallGate gate_;
  const std::shared_ptr<CallLimiter> calls_, watches_;
  const std::shared_ptr<WatchBytes> watch_bytes_;
};

}  // namespace

std::unique_ptr<grpc::Service> serve(Fabric& fabric, Identify identify,
                                     const ServiceSettings& settings) {
  return std::make_unique<Service>(fabric, std::move(identify), settings);
}

}  // namespace ibpod::fabricapi
