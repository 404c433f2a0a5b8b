// A fabric's SM service that is asked over TLS, with this node's certificate in files.
#pragma once

#include "agent/sm_client/test_two_rails.h"
#include "lib/rpc/test_tls.h"

namespace ibpod::agent::sm_client {

struct TlsRail {
  TestCa ca;
  rpc::Files server_files{ca, ca.issue(rpc::server_named("IP:127.0.0.1"))};
  rpc::Files files;  // the node's
  config::FabricService service;
  std::unique_ptr<rpc::TcpServer> tcp;

  // In place of `fabric`, which outlives it. `own`: the node's certificate.
  explicit TlsRail(FakeFabric& fabric,
                   const TestCa::CertificateRequest& own = rpc::client_named("n1"))
      : files(ca, ca.issue(own)), service(fabric.service) {
    rpc::silence_grpc();
    Fd listening = rpc::listen_on(0);
    service.sm_address.address = "127.0.0.1:" + std::to_string(rpc::port_of(listening));
    service.sm_address.files = files.files;
    tcp =
        rpc::TcpServer::serve(std::move(listening), {.files = server_files.files}, {&fabric.model})
            .value();
  }
  void renew() const { files.put(ca.issue(rpc::client_named("n1"))); }
};

}  // namespace ibpod::agent::sm_client
