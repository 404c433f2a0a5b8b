// TcpServer: gRPC services over TCP for clients with a certificate (mutual TLS), or with a proof of
// their own in each call. Services get the caller by peer_of() (peer.h).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/rpc/acceptor.h"
#include "lib/rpc/connections.h"
#include "lib/rpc/guard.h"
#include "lib/rpc/serving.h"
#include "lib/rpc/tls_credentials.h"
#include "lib/rpc/tls_files.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace grpc {
class Service;
namespace experimental {
class ExternalConnectionAcceptor;
}
}  // namespace grpc

namespace ibpod::rpc {

// A refusal costs the sender its connection or its call, and costs no other client anything: a slow
// client holds a place, never a thread.
class TcpServer {
 public:
  struct Settings {
    TlsFiles files;
    // optional: the service judges each call of a client without a certificate, and tells
    // `authenticated` of those that it accepts. Until then a connection is counted under its
    // address, and not for long (Guard).
    ClientCertificate client = ClientCertificate::required;
    std::shared_ptr<AuthenticatedConnections> authenticated = {};
    // If `connections.all` are open, the next one waits in the socket's queue; a connection beyond
    // the limit of its address is closed.
    Connections::Most connections = {};
    // TLS and HTTP/2 have to have begun within it.
    Duration handshake{10'000};
    // After about this age a client has to connect again, and so to show a certificate that is
    // still valid: the age at which calls are asked to end, and how long they may still run then.
    Duration age{3'600'000};
    Duration age_grace{60'000};
    int streams_of_one_connection = 256;
    // That what gRPC counts of connections and calls may have together, in bytes.
    size_t memory = 128 << 20;
    // For each account, over all of its connections.
    CallerLimits callers = {};
    // Asked on a thread of the server's.
    Account account = holder_of;
    // Each connection that was cut for them, likewise.
    Guard::OnCut on_cut = {};
  };

  // `listening` is a TCP socket that listens and does not block. The services outlive the server;
  // all of them have callback methods only, as others would hold a thread each (Answering,
  // tsan_handover.h). invalid or not_found where the files cannot be used.
  static Result<std::unique_ptr<TcpServer>> serve(Fd listening, const Settings& settings,
                                                  const std::vector<grpc::Service*>& services);
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;
  TcpServer(TcpServer&&) = delete;
  TcpServer& operator=(TcpServer&&) = delete;
  // stop(), with kGrace.
  ~TcpServer();

  // The state of the files (FollowedTls::state()), also without clients, and the end of the
  // certificate in use: for logs and metrics.
  Status certificate() const;
  std::chrono::system_clock::time_point expires() const { return *files_->expires(); }
  // The number of connections closed because their address had too many.
  uint64_t refused() const { return refused_; }
  // How often connections had to wait because there was no place for one, or no descriptor: once
  // from the first that waits until none does.
  uint64_t starved() const { return starved_; }

  // How many connections were cut for this.
  uint64_t cut(Cause cause) const { return cut_.at(static_cast<size_t>(cause)); }

  // As Server::stop().
  void stop(Duration grace);

 private:
  TcpServer(Fd listening, const Settings& settings, std::shared_ptr<FollowedTls> files);
  Status start(const std::vector<grpc::Service*>& services);
  Status start_acceptor();
  Acceptor::AcceptResult result_without_resources() const;
  Acceptor::AcceptResult accept_one();
  Acceptor::AcceptResult give(Fd connection, const std::string& address);

  Fd listening_;
  const Settings settings_;
  const std::shared_ptr<FollowedTls> files_;
  Connections connections_;  // of the acceptor's thread, and so the next
  bool starving_ = false;    // a connection has waited since the last look
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> starved_ = 0;
  std::array<std::atomic<uint64_t>, kCauses> cut_ = {};
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<Guard> guard_;        // of the acceptor's thread
  std::unique_ptr<Acceptor> acceptor_;  // none once stopped
};

}  // namespace ibpod::rpc
