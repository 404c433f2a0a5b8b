#include "tests/support/ufm/fake_ufm.h"

#include "tests/support/ufm/control.h"

#include <utility>

namespace ibpod::fake_ufm {

FakeUfm::FakeUfm() : rest_({ufm_, inventory_, accounts_}) {}

FakeUfm::~FakeUfm() {
  control_.server.reset();
  stop_serving();
}

void FakeUfm::set_up(const Config& config) {
  ufm_.set_switches(config.switches);
  inventory_.set_ports(config.ports);
  inventory_.set_vports(config.vports);
  inventory_.set_virtualization(config.virtualization);
  rest_.set_settings(config.rest);
  for (const UserConfig& user : config.users)
    accounts_.add_user(user.name, user.password, user.role);
  for (const auto& [token, user] : config.tokens) accounts_.add_token(token, user);
  for (const auto& [name, user] : config.certificates) accounts_.add_certificate(name, user);
  plain_.address = config.plain;
  control_.address = config.control;
  if (config.tls) tls_.address = config.tls->address;
}

Result<std::unique_ptr<FakeUfm>> FakeUfm::start(const Config& config) {
  std::unique_ptr<FakeUfm> made(new FakeUfm);
  made->set_up(config);
  if (config.tls) made->context_ = TRY(make_tls_context(config.tls->files).during("tls"));
  if (!config.opensm.partitions.empty())
    made->writer_ = TRY(PartitionsWriter::start(made->ufm_, config.opensm, config.effect,
                                                config.rest.default_membership));
  TRY(made->serve());
  FakeUfm& ufm = *made;
  TRY(serve(ufm.control_, nullptr,
            [&ufm](const HttpRequest& request) { return control(ufm, request); }));
  return made;
}

Status FakeUfm::serve(Endpoint& endpoint, const TlsContext& tls, const HttpHandler& handler) {
  if (!endpoint.address || endpoint.server) return ok();
  endpoint.server = TRY(HttpServer::start(*endpoint.address, tls, handler));
  endpoint.address = endpoint.server->address();
  return ok();
}

Status FakeUfm::serve() {
  const std::lock_guard lock(mutex_);
  const HttpHandler handler = [this](const HttpRequest& request) { return rest_.handle(request); };
  TRY(serve(plain_, nullptr, handler));
  return serve(tls_, context_, handler);
}

void FakeUfm::stop_serving() {
  const std::lock_guard lock(mutex_);
  plain_.server.reset();
  tls_.server.reset();
}

Status FakeUfm::change_certificate(const TlsFiles& files) {
  TlsContext context = TRY(make_tls_context(files));
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  if (tls_.server) tls_.server->change_certificate(context_);
  return ok();
}

}  // namespace ibpod::fake_ufm
