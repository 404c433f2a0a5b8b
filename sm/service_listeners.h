// ServiceListeners: the sockets of ibpod-sm's service: the unix socket for this machine, and TCP
// with TLS for nodes, which show a certificate or a token.
#pragma once

#include "lib/base/files.h"
#include "lib/rpc/server.h"
#include "lib/rpc/tcp_server.h"
#include "sm/api/fabric_service.h"
#include "sm/api/task_queue.h"
#include "sm/config/config.h"
#include "sm/controller/fabric_calls.h"
#include "sm/telemetry/listener_telemetry.h"

#include <memory>
#include <optional>

namespace ibpod::sm {

class ServiceListeners {
 public:
  // `telemetry` outlives it.
  explicit ServiceListeners(telemetry::Telemetry& telemetry)
      : telemetry_(telemetry), listener_telemetry_(telemetry) {}
  ~ServiceListeners();
  ServiceListeners(const ServiceListeners&) = delete;
  ServiceListeners& operator=(const ServiceListeners&) = delete;
  ServiceListeners(ServiceListeners&&) = delete;
  ServiceListeners& operator=(ServiceListeners&&) = delete;

  // Serves the sockets of the configuration. The calls go into `tasks`, which outlives
  // it. Call it once.
  Status serve(const config::Config& config, controller::FabricCalls& calls, api::TaskQueue& tasks);
  // Reports the state of the TLS files, of the clusters' keys and of the connections. From any
  // thread.
  void report_status();
  // No call can come any more. Those that wait must have been answered: they are waited for.
  void stop();

 private:
  Status serve_tcp(const config::Config& config);
  void report_keys();

  telemetry::Telemetry& telemetry_;
  telemetry::ListenerTelemetry listener_telemetry_;
  std::optional<api::RoleRules> authority_;
  std::unique_ptr<api::TokenAuthenticator> tokens_;  // none without a cluster
  const std::shared_ptr<rpc::AuthenticatedConnections> authenticated_ =
      std::make_shared<rpc::AuthenticatedConnections>();
  std::unique_ptr<api::FabricService<controller::FabricCalls>> service_;
  std::unique_ptr<rpc::Server> socket_;
  std::unique_ptr<rpc::TcpServer> tcp_;
  Path tls_key_;  // of tcp_
};

}  // namespace ibpod::sm
