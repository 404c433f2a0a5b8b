#include "agent/servers.h"

#include "lib/base/files.h"
#include "lib/nodeapi/service.h"

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::agent {
namespace {

constexpr Duration kStopTimeout{300};

}  // namespace

Servers::Servers() = default;
Servers::~Servers() = default;

Status Servers::serve(const config::Config& config, NodeServiceDeps deps, http::Pages pages) {
  node_service_.emplace(std::move(deps));
  grpc_service_ = nodeapi::serve(*node_service_);
  TRY(make_folders(config.agent_socket.parent_path()));
  rpc_server_ =
      TRY(rpc::Server::serve(config.agent_socket, {grpc_service_.get()}).during("agentSocket"));
  http_server_ =
      TRY(http::Server::start(config.metrics_address, std::move(pages)).during("metricsAddress"));
  return ok();
}

void Servers::stop() {
  if (rpc_server_) rpc_server_->stop(kStopTimeout);
  http_server_.reset();
}

}  // namespace ibpod::agent
