#include "lib/rpc/server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

namespace ibpod::rpc {

Result<std::unique_ptr<Server>> Server::serve(const Path& socket,
                                              const std::vector<grpc::Service*>& services) {
  std::unique_ptr<Serving> serving = Serving::start(services, [](grpc::ServerBuilder&) {});
  if (serving == nullptr) return Error(Code::internal, "gRPC cannot start a server");
  Listener listener = TRY(Listener::open(socket).during("serve"));
  std::unique_ptr<Server> server(new Server(std::move(listener), std::move(serving)));
  Server& self = *server;
  server->acceptor_ =
      TRY(Acceptor::start(self.listener_->fd(), [&self] { return self.accept_one(); }));
  return server;
}

Server::Server(Listener listener, std::unique_ptr<Serving> serving)
    : listener_(std::move(listener)), serving_(std::move(serving)) {}

Server::~Server() { stop(kGrace); }

Acceptor::AcceptResult Server::accept_one() {
  Result<std::optional<Fd>> accepted = listener_->accept();
  if (accepted && !*accepted) return Acceptor::AcceptResult::none_waiting;
  if (accepted) {
    const int own = given_away(**accepted);
    if (own < 0) return Acceptor::AcceptResult::out_of_resources;
    grpc::AddInsecureChannelFromFd(&serving_->server(), own);
  } else if (accepted.error().code() == Code::denied) {
    ++refused_;
  } else if (accepted.error().error_number() != ECONNABORTED) {
    return Acceptor::AcceptResult::out_of_resources;
  }
  return Acceptor::AcceptResult::accepted;
}

void Server::stop(Duration grace) {
  if (acceptor_ == nullptr) return;
  acceptor_.reset();
  listener_.reset();
  serving_->stop(grace);
}

}  // namespace ibpod::rpc
