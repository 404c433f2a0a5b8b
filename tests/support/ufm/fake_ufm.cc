#include "tests/support/ufm/fake_ufm.h"

#include "tests/support/ufm/control.h"

#include <utility>

namespace ibpod::fake_ufm {

FakeUfm::FakeUfm() : rest_({ufm_, inventory_, accounts_}) {}

FakeUfm::~FakeUfm() {
  control_.reset();
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
  plain_address_ = config.plain;
  if (config.tls) tls_address_ = config.tls->address;
}

Result<std::unique_ptr<FakeUfm>> FakeUfm::start(const Config& config) {
  std::unique_ptr<FakeUfm> made(new FakeUfm);
  made->set_up(config);
  if (config.tls) made->context_ = TRY(make_tls_context(config.tls->files).during("tls"));
  if (!config.opensm.partitions.empty())
    made->writer_ = TRY(PartitionsWriter::start(made->ufm_, config.opensm, config.effect,
                                                config.rest.default_membership));
  TRY(made->serve());
  if (!config.control) return made;
  made->control_ = TRY(HttpServer::start(
      *config.control, nullptr,
      [made = made.get()](const HttpRequest& request) { return control(*made, request); }));
  made->control_address_ = made->control_->address();
  return made;
}

Status FakeUfm::serve() {
  const std::lock_guard lock(mutex_);
  const HttpHandler handler = [this](const HttpRequest& request) { return rest_.handle(request); };
  if (plain_address_ && !plain_) {
    plain_ = TRY(HttpServer::start(*plain_address_, nullptr, handler));
    plain_address_ = plain_->address();
  }
  if (tls_address_ && !tls_) {
    tls_ = TRY(HttpServer::start(*tls_address_, context_, handler));
    tls_address_ = tls_->address();
  }
  return ok();
}

void FakeUfm::stop_serving() {
  const std::lock_guard lock(mutex_);
  plain_.reset();
  tls_.reset();
}

Status FakeUfm::change_certificate(const TlsFiles& files) {
  TlsContext context = TRY(make_tls_context(files));
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  if (tls_) tls_->change_certificate(context_);
  return ok();
}

}  // namespace ibpod::fake_ufm
