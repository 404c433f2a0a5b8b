// Servers: the sockets on which the agent answers: the node API for plugins and ibpodctl, and
// /metrics, /healthz and /readyz.
#pragma once

#include "agent/config/config.h"
#include "agent/node_service.h"
#include "lib/http/server.h"
#include "lib/rpc/server.h"

#include <memory>
#include <optional>

namespace grpc {
class Service;
}

namespace ibpod::agent {

class Servers {
 public:
  Servers();
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  // Once. `deps` and `pages` are used on the servers' threads, and outlive them. An error begins
  // with the key of the configuration, agentSocket or metricsAddress; some may serve already then.
  Status serve(const config::Config& config, NodeServiceDeps deps, http::Pages pages);
  // Calls of the node API in progress are cancelled after 300 ms; pages in progress are waited for.
  void stop();

 private:
  std::optional<NodeService> node_service_;
  std::unique_ptr<grpc::Service> grpc_service_;
  std::unique_ptr<rpc::Server> rpc_server_;
  std::unique_ptr<http::Server> http_server_;
};

}  // namespace ibpod::agent
