// Server: gRPC services on a unix socket, for this process's own user (root) alone.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/rpc/acceptor.h"
#include "lib/rpc/listener.h"
#include "lib/rpc/serving.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace grpc {
class Service;
}

namespace ibpod::rpc {

// Accepts connections itself, so that SO_PEERCRED decides before a byte is read (Listener). A
// connection that does not answer pings for 40 s is closed.
class Server {
 public:
  // The services outlive the server; at least one has callback methods. Their methods run on gRPC's
  // threads, each with an Answering (tsan_handover.h). See Listener::open for `socket`.
  static Result<std::unique_ptr<Server>> serve(const Path& socket,
                                               const std::vector<grpc::Service*>& services);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;
  // stop(), with kGrace.
  ~Server();

  // How many connections were closed because another user made them.
  uint64_t refused() const { return refused_; }
  // True while the path leads to this server: a kubelet that starts removes sockets.
  bool in_place() const { return listener_ && listener_->in_place(); }

  // Removes the socket, lets the calls in progress end within `grace`, then cancels the rest. It
  // returns when no method of a service runs any more: a method that does not return, or a reactor
  // that does not finish when it is cancelled, holds it up. The second call does nothing. Not to be
  // called from a method.
  void stop(Duration grace);

 private:
  Server(Listener listener, std::unique_ptr<Serving> serving);
  Acceptor::AcceptResult accept_one();

  std::optional<Listener> listener_;
  std::unique_ptr<Serving> serving_;
  std::atomic<uint64_t> refused_ = 0;
  std::unique_ptr<Acceptor> acceptor_;  // none once stopped
};

}  // namespace ibpod::rpc
