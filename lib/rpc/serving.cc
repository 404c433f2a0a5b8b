#include "lib/rpc/serving.h"

#include "lib/rpc/tsan_handover.h"

#include <utility>

#include <grpcpp/grpcpp.h>

namespace ibpod::rpc {
namespace {

// A peer that says nothing is asked after the one and given up after the other.
constexpr int kPingAfterMs = 30'000;
constexpr int kPongWithinMs = 10'000;

}  // namespace

std::unique_ptr<Serving> Serving::start(const std::vector<grpc::Service*>& services,
                                        const std::function<void(grpc::ServerBuilder&)>& prepare) {
  grpc::ServerBuilder builder;
  for (grpc::Service* service : services) {
    hand_over(Answering::served(*service));
    builder.RegisterService(service);
  }
  builder.SetMaxReceiveMessageSize(kLargestRequest);
  builder.SetMaxSendMessageSize(-1);  // what the other side takes is the service's business
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPongWithinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  prepare(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return nullptr;
  return std::unique_ptr<Serving>(new Serving(services, std::move(server)));
}

Serving::Serving(std::vector<grpc::Service*> services, std::unique_ptr<grpc::Server> server)
    : services_(std::move(services)), server_(std::move(server)) {}

Serving::~Serving() = default;

void Serving::stop(Duration grace) {
  const gpr_timespec limit = gpr_time_from_millis(grace.count(), GPR_TIMESPAN);
  server_->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), limit));
  for (grpc::Service* service : services_) take_over(Answering::answered(*service));
}

}  // namespace ibpod::rpc
