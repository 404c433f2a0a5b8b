#include "lib/fabricapi/client.h"

#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/fabricapi/messages.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/tls_channel.h"

namespace ibpod::fabricapi {
namespace {

using Stub = v1::Fabric::Stub;

// A missing socket means that no service runs; not_found would mean the requested object.
Result<std::shared_ptr<grpc::Channel>> connect(const Path& socket) {
  Result<std::shared_ptr<grpc::Channel>> channel = rpc::connect_unix(socket);
  if (channel || channel.error().code() != Code::not_found) return channel;
  return Error(Code::unavailable, channel.error().text());
}

// An answer that breaks the protocol is a fault of the service, not of the caller.
template <typename Value>
Result<Value> believed(Result<Value> read) {
  if (read) return read;
  return Error(Code::internal, "invalid answer: " + read.error().text());
}

template <typename Message>
Result<Message> checked(const Message& answer) {
  TRY(check_answer(answer));
  return answer;
}

}  // namespace

Client::Client(Channel channel, std::string server, std::string fabric)
    : channel_(std::move(channel)), server_(std::move(server)), fabric_(std::move(fabric)) {}

Client Client::over_unix(const Path& socket, std::string fabric) {
  return {[socket] { return connect(socket); }, "ibpod-sm at " + socket.string(),
          std::move(fabric)};
}

Client Client::over_tls(std::shared_ptr<rpc::TlsChannel> channel, const std::string& target,
                        std::string fabric) {
  Client client([channel] { return channel->now(); }, "ibpod-sm at " + target, std::move(fabric));
  client.tls_ = std::move(channel);
  return client;
}

Status Client::certificate() const { return tls_ == nullptr ? ok() : tls_->certificate(); }

Status Client::certificate_usable() const { return tls_ == nullptr ? ok() : tls_->usable(); }

std::optional<std::chrono::system_clock::time_point> Client::certificate_expires() const {
  if (tls_ == nullptr) return std::nullopt;
  return tls_->expires();
}

// The error of a failed call. A server that refuses a certificate closes the connection without a
// reason.
Error Client::reason_of(Error error) const {
  const Status usable = certificate_usable();
  if (error.code() != Code::unavailable || usable) return error;
  return Error(Code::unavailable, usable.error().text());
}

template <typename Request, typename Answer, typename Method, typename Read>
auto Client::ask(Request request, Method method, Deadline deadline, Read read)
    -> decltype(read(std::declval<const Answer&>())) {
  request.set_fabric(fabric_);
  const std::shared_ptr<grpc::Channel> channel = TRY(channel_().during(server_));
  Stub stub(channel);
  const Result<Answer> answer = rpc::ask(stub, method, request, deadline);
  if (!answer) return reason_of(answer.error()).during(server_);
  return believed(read(*answer)).during(server_);
}

Result<fabric::PartitionStatus> Client::create_partition(const fabric::Partition& partition,
                                                         Deadline deadline) {
  v1::CreatePartitionRequest request;
  *request.mutable_partition() = to_message(partition);
  return ask<v1::CreatePartitionRequest, v1::Partition>(
      std::move(request), &Stub::CreatePartition, deadline,
      [](const v1::Partition& answer) { return from_message(answer); });
}

Result<fabric::PartitionStatus> Client::update_partition(const fabric::Partition& partition,
                                                         Deadline deadline) {
  v1::UpdatePartitionRequest request;
  *request.mutable_partition() = to_message(partition);
  return ask<v1::UpdatePartitionRequest, v1::Partition>(
      std::move(request), &Stub::UpdatePartition, deadline,
      [](const v1::Partition& answer) { return from_message(answer); });
}

Result<fabric::PartitionStatus> Client::delete_partition(const std::string& name, Deadline deadline,
                                                         bool forget_ports) {
  v1::DeletePartitionRequest request;
  request.set_forget_ports(forget_ports);
  request.set_name(name);
  return ask<v1::DeletePartitionRequest, v1::Partition>(
      std::move(request), &Stub::DeletePartition, deadline,
      [](const v1::Partition& answer) { return from_message(answer); });
}

Result<ListPage<fabric::PartitionStatus>> Client::list_partitions(const PageRequest& page,
                                                                  Deadline deadline) {
  v1::ListPartitionsRequest request;
  request.set_page_size(page.size);
  request.set_page_token(page.token);
  return ask<v1::ListPartitionsRequest, v1::ListPartitionsResponse>(
      std::move(request), &Stub::ListPartitions, deadline,
      [](const v1::ListPartitionsResponse& answer) { return from_message(answer); });
}

Result<fabric::Binding> Client::bind(const BindRequest& request, Deadline deadline) {
  return ask<v1::BindRequest, v1::Binding>(
      to_message(request), &Stub::Bind, deadline,
      [](const v1::Binding& answer) { return from_message(answer); });
}

Result<fabric::Binding> Client::unbind(const fabric::Attachment& attachment, Deadline deadline) {
  v1::UnbindRequest request;
  *request.mutable_attachment() = to_message(attachment);
  return ask<v1::UnbindRequest, v1::Binding>(
      std::move(request), &Stub::Unbind, deadline,
      [](const v1::Binding& answer) { return from_message(answer); });
}

Result<fabric::Binding> Client::get_binding(const fabric::Attachment& attachment,
                                            Deadline deadline) {
  v1::GetBindingRequest request;
  *request.mutable_attachment() = to_message(attachment);
  return ask<v1::GetBindingRequest, v1::Binding>(
      std::move(request), &Stub::GetBinding, deadline,
      [](const v1::Binding& answer) { return from_message(answer); });
}

Result<ListPage<fabric::Binding>> Client::list_bindings(const BindingFilter& filter,
                                                        const PageRequest& page,
                                                        Deadline deadline) {
  v1::ListBindingsRequest request;
  *request.mutable_filter() = to_message(filter);
  request.set_page_size(page.size);
  request.set_page_token(page.token);
  return ask<v1::ListBindingsRequest, v1::ListBindingsResponse>(
      std::move(request), &Stub::ListBindings, deadline,
      [](const v1::ListBindingsResponse& answer) { return from_message(answer); });
}

Status Client::watch_bindings(const BindingFilter& filter,
                              const std::function<bool(const BindingChange&)>& on_change,
                              Deadline deadline) {
  v1::WatchBindingsRequest request;
  request.set_fabric(fabric_);
  *request.mutable_filter() = to_message(filter);
  const std::shared_ptr<grpc::Channel> channel = TRY(channel_().during(server_));
  Stub stub(channel);
  grpc::ClientContext context;
  rpc::set_deadline(context, deadline);
  const auto stream = stub.WatchBindings(&context, request);
  v1::BindingChange message;
  while (stream->Read(&message)) {
    const Result<BindingChange> change = believed(from_message(message)).during(server_);
    if (change && on_change(*change)) continue;
    context.TryCancel();
    while (stream->Read(&message)) continue;
    (void)stream->Finish();  // we have cancelled it
    if (!change) return change.error();
    return ok();
  }
  const grpc::Status ended = stream->Finish();
  if (ended.ok()) return Error(Code::unavailable, server_ + ": the watch has ended");
  return reason_of(rpc::from_grpc(ended).error()).during(server_);
}

Result<SyncAnswer> Client::sync(const SyncRequest& request, Deadline deadline) {
  return ask<v1::SyncRequest, v1::SyncResponse>(
      to_message(request), &Stub::Sync, deadline,
      [](const v1::SyncResponse& answer) { return from_message(answer); });
}

Result<v1::ObserveResponse> Client::observe(const ObserveRequest& request, Deadline deadline) {
  return ask<v1::ObserveRequest, v1::ObserveResponse>(to_message(request), &Stub::Observe, deadline,
                                                      checked<v1::ObserveResponse>);
}

Result<std::vector<AllocatedGuid>> Client::allocate_guids(const AllocateRequest& request,
                                                          Deadline deadline) {
  return ask<v1::AllocateGuidsRequest, v1::AllocateGuidsResponse>(
      to_message(request), &Stub::AllocateGuids, deadline,
      [](const v1::AllocateGuidsResponse& answer) { return from_message(answer); });
}

Result<v1::ListNodesResponse> Client::list_nodes(Deadline deadline) {
  return ask<v1::ListNodesRequest, v1::ListNodesResponse>({}, &Stub::ListNodes, deadline,
                                                          checked<v1::ListNodesResponse>);
}

Result<v1::FabricNode> Client::forget_node(const ForgetRequest& request, Deadline deadline) {
  return ask<v1::ForgetNodeRequest, v1::FabricNode>(to_message(request), &Stub::ForgetNode,
                                                    deadline, checked<v1::FabricNode>);
}

Result<v1::PlanResponse> Client::plan(const PlanRequest& request, Deadline deadline) {
  return ask<v1::PlanRequest, v1::PlanResponse>(to_message(request), &Stub::Plan, deadline,
                                                checked<v1::PlanResponse>);
}

Result<Explanation> Client::explain(const ExplainRequest& request, Deadline deadline) {
  return ask<v1::ExplainFabricRequest, v1::ExplainFabricResponse>(
      to_message(request), &Stub::Explain, deadline,
      [](const v1::ExplainFabricResponse& answer) { return from_message(answer); });
}

Result<v1::FabricHealthResponse> Client::health(Deadline deadline) {
  return ask<v1::FabricHealthRequest, v1::FabricHealthResponse>(
      {}, &Stub::FabricHealth, deadline,
      [](const v1::FabricHealthResponse& answer) { return Result(answer); });
}

}  // namespace ibpod::fabricapi
