#include "lib/rpc/tls_channel.h"

#include "lib/base/token_file.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/token_credentials.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

namespace ibpod::rpc {
namespace {

// A server that says nothing while a call waits is asked after the one and given up after the
// other.
constexpr int kPingAfterMs = 20'000;
constexpr int kPongWithinMs = 10'000;
// A server that cannot be reached is tried again after the one at first, and never later than
// after the other.
constexpr int kFirstRetryMs = 200;
constexpr int kLastRetryMs = 5'000;

std::shared_ptr<grpc::Channel> make_channel(const TlsChannel::Settings& settings,
                                            const TlsTexts& texts) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  arguments.SetMaxSendMessageSize(-1);  // what the other side takes is its own business
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPongWithinMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstRetryMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kLastRetryMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastRetryMs);
  // An environment variable must not redirect the connection.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!settings.server_name.empty()) arguments.SetSslTargetNameOverride(settings.server_name);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = texts.ca;
  options.pem_private_key = texts.key;
  options.pem_cert_chain = texts.certificate;
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::SslCredentials(options);
  if (!settings.token.empty())
    credentials = grpc::CompositeChannelCredentials(credentials, token_credentials(settings.token));
  return grpc::CreateCustomChannel(settings.target, credentials, arguments);
}

}  // namespace

Result<std::unique_ptr<TlsChannel>> TlsChannel::open(Settings settings) {
  std::shared_ptr<FollowedTls> files = TRY(FollowedTls::open(settings.files));
  return std::unique_ptr<TlsChannel>(new TlsChannel(std::move(settings), std::move(files)));
}

std::unique_ptr<TlsChannel> TlsChannel::follow(Settings settings) {
  std::shared_ptr<FollowedTls> files = FollowedTls::follow(settings.files);
  return std::unique_ptr<TlsChannel>(new TlsChannel(std::move(settings), std::move(files)));
}

TlsChannel::TlsChannel(Settings settings, std::shared_ptr<FollowedTls> files)
    : settings_(std::move(settings)), files_(std::move(files)) {}

Status TlsChannel::token() const {
  if (settings_.token.empty()) return ok();
  TRY(read_token_file(settings_.token));
  return ok();
}

Status TlsChannel::certificate() const {
  (void)files_->now();  // looks at the files
  TRY(files_->state());
  return token();
}

Status TlsChannel::usable() const {
  (void)files_->now();
  TRY(files_->usable());
  return token();
}

std::optional<FollowedTls::Time> TlsChannel::expires() const {
  (void)files_->now();
  return files_->expires();
}

Result<std::shared_ptr<grpc::Channel>> TlsChannel::now() {
  TRY(token());
  std::shared_ptr<const TlsTexts> texts = files_->now();
  if (texts == nullptr) {
    const Status why = files_->state();
    if (!why) return Error(Code::unavailable, why.error().text());
    texts = files_->now();  // another thread has read new ones in between
  }
  const std::lock_guard lock(mutex_);
  if (texts != used_) {
    channel_ = make_channel(settings_, *texts);
    used_ = std::move(texts);
  }
  return channel_;
}

}  // namespace ibpod::rpc
