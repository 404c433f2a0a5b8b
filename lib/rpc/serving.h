// Serving: gRPC's server inside this project's servers: how it starts and how it ends.
#pragma once

#include "lib/base/clock.h"

#include <functional>
#include <memory>
#include <vector>

namespace grpc {
class Server;
class ServerBuilder;
class Service;
}  // namespace grpc

namespace ibpod::rpc {

// The largest request that a server takes, in bytes.
inline constexpr int kLargestRequest = 4 << 20;
// The default grace for calls in progress.
inline constexpr Duration kGrace{300};

class Serving {
 public:
  // Nothing where gRPC refuses. `prepare` adds what only this server has.
  static std::unique_ptr<Serving> start(const std::vector<grpc::Service*>& services,
                                        const std::function<void(grpc::ServerBuilder&)>& prepare);
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  Serving(Serving&&) = delete;
  Serving& operator=(Serving&&) = delete;
  ~Serving();

  grpc::Server& server() { return *server_; }
  // See Server::stop(). Once only.
  void stop(Duration grace);

 private:
  Serving(std::vector<grpc::Service*> services, std::unique_ptr<grpc::Server> server);
  const std::vector<grpc::Service*> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ibpod::rpc
