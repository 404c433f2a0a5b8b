// TlsChannel: the way to a server over TCP with mutual TLS.
#pragma once

#include "lib/base/result.h"
#include "lib/rpc/tls_files.h"

#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/channel.h>

namespace ibpod::rpc {

// From any thread.
class TlsChannel {
 public:
  struct Settings {
    std::string target;  // sm.example:7473, 10.1.2.3:7473, [fd00::1]:7473
    TlsFiles files;
    // What the server's certificate has to be issued for (a DNS name or an IP address); empty: the
    // target's.
    std::string server_name = {};
  };
  // Nothing is connected yet. invalid or not_found where the files cannot be used.
  static Result<std::unique_ptr<TlsChannel>> open(Settings settings);

  // The channel for the next call: another one once the files have been replaced by others that
  // can be used. A channel connects by itself and again when the connection has broken. Calls that
  // the server does not answer, or with a server that is not whom it should be, fail with
  // unavailable.
  std::shared_ptr<grpc::Channel> now();

  // See FollowedTls::state().
  Status certificate() const { return files_->state(); }

 private:
  TlsChannel(Settings settings, std::shared_ptr<FollowedTls> files);
  const Settings settings_;
  const std::shared_ptr<FollowedTls> files_;
  std::mutex mutex_;
  std::shared_ptr<const TlsTexts> used_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace ibpod::rpc
