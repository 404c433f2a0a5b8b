#include "lib/rpc/server.h"

#include "lib/rpc/hand_over.h"

#include <array>

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>
#include <poll.h>

namespace ibpod::rpc {
namespace {

constexpr Duration kGrace{300};
// A peer that says nothing is asked after the one and given up after the other.
constexpr int kPingAfterMs = 30'000;
constexpr int kPongWithinMs = 10'000;
// How long nothing is accepted when the process has run out of descriptors or memory: what waits
// stays in the socket's queue.
constexpr int kExhaustedMs = 500;

std::unique_ptr<grpc::Server> start(const std::vector<grpc::Service*>& services) {
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
  return builder.BuildAndStart();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::serve(const Path& socket,
                                              const std::vector<grpc::Service*>& services) {
  std::unique_ptr<grpc::Server> server = start(services);
  if (server == nullptr) return Error(Code::internal, "gRPC cannot start a server");
  Wake wake = TRY(Wake::open());
  Listener listener = TRY(Listener::open(socket).during("serve"));
  return std::unique_ptr<Server>(
      new Server(std::move(listener), std::move(wake), services, std::move(server)));
}

Server::Server(Listener listener, Wake wake, std::vector<grpc::Service*> services,
               std::unique_ptr<grpc::Server> server)
    : listener_(std::move(listener)),
      stopping_(std::move(wake)),
      services_(std::move(services)),
      server_(std::move(server)),
      acceptor_([this] { accept_all(); }) {}

Server::~Server() { stop(kGrace); }

// Until stop() rings.
void Server::accept_all() {
  std::array<pollfd, 2> waiting{{{stopping_.fd(), POLLIN, 0}, {listener_->fd(), POLLIN, 0}}};
  while (waiting[0].revents == 0) {
    if (waiting[1].revents != 0 && !accept_waiting()) {
      ::poll(waiting.data(), 1, kExhaustedMs);
    } else {
      ::poll(waiting.data(), waiting.size(), -1);
    }
  }
}

// Takes all connections that wait. False where the process has nothing left to take one with.
bool Server::accept_waiting() {
  while (true) {
    Result<std::optional<Fd>> accepted = listener_->accept();
    if (accepted && !*accepted) return true;
    if (accepted) {
      // gRPC closes it from here on, so it gets a descriptor of its own.
      const int own = ::fcntl((*accepted)->get(), F_DUPFD_CLOEXEC, 3);
      if (own < 0) return false;
      grpc::AddInsecureChannelFromFd(server_.get(), own);
    } else if (accepted.error().code() == Code::denied) {
      ++refused_;
    } else if (accepted.error().error_number() != ECONNABORTED) {
      return false;
    }
  }
}

void Server::stop(Duration grace) {
  if (!acceptor_.joinable()) return;
  stopping_.ring();
  acceptor_.join();
  listener_.reset();
  const gpr_timespec limit = gpr_time_from_millis(grace.count(), GPR_TIMESPAN);
  server_->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), limit));
  for (grpc::Service* service : services_) take_over(Answering::answered(*service));
}

}  // namespace ibpod::rpc
