// TlsChannel: a channel to a server over TCP with mutual TLS, or with TLS and a token in each call.
#pragma once

#include "lib/base/result.h"
#include "lib/rpc/tls_files.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <grpcpp/channel.h>

namespace ibpod::rpc {

// From any thread.
class TlsChannel {
 public:
  struct Settings {
    std::string target;  // sm.example:7473, 10.1.2.3:7473, [fd00::1]:7473
    TlsFiles files;
    // The DNS name or IP address that the server's certificate has to be issued for; empty: the
    // target's.
    std::string server_name = {};
    // Each call carries the token of this file (token_credentials.h); empty: none.
    Path token = {};
  };
  // Nothing is connected yet. invalid or not_found where the files cannot be used.
  static Result<std::unique_ptr<TlsChannel>> open(Settings settings);
  // The same for a program that goes on while they cannot be used.
  static std::unique_ptr<TlsChannel> follow(Settings settings);

  // The channel for the next call: another one once the files have been replaced by others that
  // can be used. A channel connects by itself and again when the connection has broken. Calls that
  // the server does not answer, or with a server that is not whom it should be, fail with
  // unavailable. unavailable, saying why, while no files could be used yet (follow()), or without
  // a token.
  Result<std::shared_ptr<grpc::Channel>> now();

  // How the files are now: FollowedTls::state(), usable() and expires(), and if the token can be
  // read. A connection that was made before its certificate expired goes on.
  Status certificate() const;
  Status usable() const;
  std::optional<FollowedTls::Time> expires() const;

 private:
  TlsChannel(Settings settings, std::shared_ptr<FollowedTls> files);
  Status token() const;
  const Settings settings_;
  const std::shared_ptr<FollowedTls> files_;
  std::mutex mutex_;
  std::shared_ptr<const TlsTexts> used_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace ibpod::rpc
