// A TestFabric behind the service, and a client of it, over a unix socket.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/fabricapi/service.h"
#include "lib/fabricapi/test_fabric.h"
#include "lib/rpc/server.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::fabricapi {

inline const Caller kRoot{Role::administrator, "", "root"};

inline Result<Caller> root_only(const rpc::Peer& peer) {
  if (peer.local) return kRoot;
  return Error(Code::denied, "unknown caller");
}

struct ServiceFixture {
  TempFolder folder;
  Path socket = folder.path() / "sm.sock";
  TestFabric fabric;
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<rpc::Server> server;
  Client client = Client::over_unix(socket);

  explicit ServiceFixture(const ServiceSettings& settings = {},
                          const Identify& identify = root_only)
      : service(serve(fabric, identify, settings)),
        server(rpc::Server::serve(socket, {service.get()}).value()) {}
};

inline Deadline soon() { return Deadline::in(Duration(20'000)); }

// Asks, and is gone at the deadline while the fabric keeps the call; with as long a deadline as
// this machine needs today for the call to get there.
template <typename Ask>
bool goes_before_the_answer(const TestFabric& fabric, const Ask& ask) {
  for (const int time : {50, 2'000, 16'000}) {
    const auto late = ask(Deadline::in(Duration(time)));
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == Code::unavailable);
    if (in_time([&] { return fabric.kept() >= 1; })) return true;
  }
  return false;
}

}  // namespace ibpod::fabricapi
