#include "sm/service_listeners.h"

#include "lib/base/private_file.h"
#include "lib/http/server.h"
#include "lib/rpc/grpc_log.h"

#include <string>
#include <string_view>
#include <utility>

namespace ibpod::sm {

ServiceListeners::~ServiceListeners() { rpc::on_failed_handshake({}); }

Status ServiceListeners::serve(const config::Config& config, controller::FabricCalls& calls,
                               api::TaskQueue& tasks) {
  authority_ = config.authority;
  if (!config.clusters.empty()) tokens_ = TRY(api::TokenAuthenticator::open(config.clusters));
  const api::CallGate::Deps deps{
      api::authenticator(*authority_, {tokens_.get(), authenticated_},
                         [this](const Error& why) { telemetry_.unauthorized(why); }),
      tasks,
      [this](const fabricapi::Caller& caller, std::string_view action, const std::string& subject,
             const Error& why) { telemetry_.audit(caller, action, subject, why); }};
  service_ = std::make_unique<api::FabricService<controller::FabricCalls>>(
      calls, deps, api::ServiceSettings{.fabric = config.fabric});
  if (!config.socket.empty()) {
    TRY(make_folders(config.socket.parent_path()));
    socket_ = TRY(rpc::Server::serve(config.socket, {service_.get()}));
  }
  return config.listening ? serve_tcp(config) : ok();
}

Status ServiceListeners::serve_tcp(const config::Config& config) {
  Fd listening = TRY(http::listen_on(config.listening->address).during("listen.address"));
  rpc::TcpServer::Settings settings;
  settings.files = config.listening->tls;
  if (tokens_ != nullptr) settings.client = rpc::ClientCertificate::optional;
  settings.authenticated = authenticated_;
  settings.account = api::accounts(*authority_);
  settings.on_cut = [this](const rpc::Cut& cut) {
    listener_telemetry_.connection_closed(cut.address, cut.holder, rpc::name(cut.cause));
  };
  rpc::on_failed_handshake(
      [this](const std::string& why) { listener_telemetry_.failed_handshake(why); });
  tls_key_ = settings.files.key;
  tcp_ = TRY(rpc::TcpServer::serve(std::move(listening), settings, {service_.get()}));
  report_status();
  return ok();
}

void ServiceListeners::report_keys() {
  const std::vector<Status> keys = tokens_->keys();
  for (size_t i = 0; i < keys.size(); ++i)
    telemetry_.report_condition("clusters[" + std::to_string(i) + "].keys",
                                keys[i] ? "" : keys[i].error().text());
}

void ServiceListeners::report_status() {
  if (tcp_ == nullptr) return;
  if (tokens_ != nullptr) report_keys();
  telemetry::ListenerStatus now{tcp_->certificate(), tcp_->expires(), tcp_->refused(),
                                tcp_->starved()};
  const Status only_ours = check_private(tls_key_);
  // A missing key is already reported with the certificate.
  if (!only_ours && only_ours.error().code() == Code::denied) now.key = only_ours;
  listener_telemetry_.status(now);
}

void ServiceListeners::stop() {
  socket_.reset();
  tcp_.reset();
}

}  // namespace ibpod::sm
