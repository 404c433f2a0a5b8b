// A TestFabric behind the service, and a client of it, over a unix socket.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/fabricapi/service.h"
#include "lib/fabricapi/test_fabric.h"
#include "lib/rpc/server.h"
#include "tests/support/temp_folder.h"

#include <thread>

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::fabricapi {

inline const Caller kRoot{Role::administrator, "", "root"};

inline Result<Caller> root_only(const rpc::Peer& peer) {
  if (peer.local) return kRoot;
  return Error(Code::denied, "nobody");
}

struct ServiceBed {
  TempFolder folder;
  Path socket = folder.path() / "sm.sock";
  TestFabric fabric;
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<rpc::Server> server;
  Client client = Client::over_unix(socket);

  explicit ServiceBed(const ServiceSettings& settings = {}, const Identify& identify = root_only)
      : service(serve(fabric, identify, settings)),
        server(rpc::Server::serve(socket, {service.get()}).value()) {}
};

inline Deadline soon() { return Deadline::in(Duration(20'000)); }

// Waits until `holds`, which another thread makes true.
template <typename Holds>
bool in_time(Holds holds) {
  const Deadline deadline = soon();
  while (!holds() && !deadline.passed()) std::this_thread::yield();
  return holds();
}

}  // namespace ibpod::fabricapi
