// The certificates of ibpod-sm and of all who call it over TCP.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/rpc/tls_files.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <string>

#include <grpcpp/channel.h>

namespace ibpod {

// One CA, and an address of this process's own on the loopback device.
class Certificates {
 public:
  Certificates();

  // The configuration for ibpod-sm: `"listen": …, "roles": …`. Certificates of "system:node:NAME"
  // are those of nodes, "ibpod-admin" is the administrator and "auditor" a reader.
  std::string configuration() const;

  // Over TLS, with a certificate of that name.
  fabricapi::Client client(const std::string& common_name) const;
  fabricapi::Client node(unsigned host) const;
  fabricapi::Client administrator() const { return client("ibpod-admin"); }
  fabricapi::Client reader() const { return client("auditor"); }
  // Over whatever channel.
  fabricapi::Client over(std::shared_ptr<grpc::Channel> channel) const;

  // A connection of its own, by such a certificate, which may be no good at all. `believed` is the
  // CA that the server has to have its own from.
  std::shared_ptr<grpc::Channel> channel(const TestCa::Issued& own, const TestCa& believed) const;
  std::shared_ptr<grpc::Channel> channel(const TestCa::Issued& own) const {
    return channel(own, ca_);
  }
  std::shared_ptr<grpc::Channel> channel_without_certificate() const;
  std::shared_ptr<grpc::Channel> channel_without_tls() const;

  const TestCa& ca() const { return ca_; }
  TestCa::Issued of(const std::string& common_name) const;
  // ibpod-sm's own files; each replaced in one step, as cert-manager does.
  void renew_server(const TestCa& issuer) const;
  void believe(const std::string& authorities) const;
  // With one that is not its key's.
  void spoil_server() const;
  // The certificate that it shows to a new connection, as PEM; empty: it shows none.
  std::string shown() const;
  std::string server_certificate() const { return read_file(server_.certificate).value(); }
  std::string server_key() const { return read_file(server_.key).value(); }

  const std::string& host() const { return host_; }
  static constexpr uint16_t kPort = 7473;
  std::string target() const { return host_ + ":" + std::to_string(kPort); }

 private:
  TestCa ca_;
  TempFolder folder_;
  std::string host_;
  rpc::TlsFiles server_;
};

}  // namespace ibpod
