#include "tests/fabric/sm/certificates.h"

#include "lib/rpc/grpc_log.h"
#include "lib/rpc/tls_channel.h"
#include "tests/fabric/sm/sm_process.h"

#include <cstdlib>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <unistd.h>

namespace ibpod {
namespace {

void require(bool success) {
  if (!success) std::abort();
}

// All of 127.0.0.0/8 is this machine, and a process has its number for itself.
std::string own_host() {
  const auto pid = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(64 + (pid >> 16)) + "." + std::to_string(pid >> 8 & 255) + "." +
         std::to_string(pid & 255);
}

void put(const Path& path, const std::string& content) {
  require(write_file_atomically(path, content).ok());
}

std::string pem(X509* certificate) {
  BIO* const bio = BIO_new(BIO_s_mem());
  require(PEM_write_bio_X509(bio, certificate) == 1);
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &bytes));
  std::string text(bytes, size);
  BIO_free(bio);
  return text;
}

std::shared_ptr<grpc::Channel> connect(const std::string& target,
                                       const std::shared_ptr<grpc::ChannelCredentials>& proof) {
  return grpc::CreateChannel(target, proof);
}

}  // namespace

Certificates::Certificates()
    : host_(own_host()),
      server_{folder_.path() / "tls.crt", folder_.path() / "tls.key", folder_.path() / "ca.crt"} {
  rpc::silence_grpc();
  renew_server(ca_);
  believe(ca_.certificate());
}

std::string Certificates::configuration() const {
  return R"("listen": {"address": ")" + target() + R"(", "certificate": ")" +
         server_.certificate.native() + R"(", "key": ")" + server_.key.native() + R"(", "ca": ")" +
         server_.ca.native() + R"("},
    "roles": [{"match": "CN=system:node:*", "role": "node"},
              {"match": "CN=ibpod-admin", "role": "administrator"},
              {"match": "CN=auditor", "role": "reader"}])";
}

void Certificates::renew_server(const TestCa& issuer) const {
  const TestCa::Issued issued =
      issuer.issue({.common_name = "ibpod-sm", .names = {"IP:" + host_}, .usage = "serverAuth"});
  put(server_.key, issued.key);
  put(server_.certificate, issued.certificate);
}

void Certificates::believe(const std::string& authorities) const { put(server_.ca, authorities); }

void Certificates::spoil_server() const { put(server_.certificate, of("ibpod-sm").certificate); }

TestCa::Issued Certificates::of(const std::string& common_name) const {
  return ca_.issue({.common_name = common_name, .usage = "clientAuth"});
}

fabricapi::Client Certificates::client(const std::string& common_name) const {
  const TempFolder files;
  const TestCa::Issued own = of(common_name);
  const rpc::TlsFiles tls{files.write("tls.crt", own.certificate), files.write("tls.key", own.key),
                          files.write("ca.crt", ca_.certificate())};
  // Read here, and followed for no longer than that.
  auto channel = rpc::TlsChannel::open({.target = target(), .files = tls}).value();
  return over(channel->now().value());
}

fabricapi::Client Certificates::node(unsigned host) const {
  return client("system:node:" + node_of(host));
}

fabricapi::Client Certificates::over(std::shared_ptr<grpc::Channel> channel) const {
  return {[channel]() -> Result<std::shared_ptr<grpc::Channel>> { return channel; }, target()};
}

std::shared_ptr<grpc::Channel> Certificates::channel(const TestCa::Issued& own,
                                                     const TestCa& believed) const {
  return connect(target(),
                 grpc::SslCredentials({believed.certificate(), own.key, own.certificate}));
}

std::shared_ptr<grpc::Channel> Certificates::channel_without_certificate() const {
  return connect(target(), grpc::SslCredentials({ca_.certificate(), "", ""}));
}

std::shared_ptr<grpc::Channel> Certificates::channel_without_tls() const {
  return connect(target(), grpc::InsecureChannelCredentials());
}

std::string Certificates::shown() const {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  BIO* const connection = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(connection, target().c_str());
  std::string text;
  SSL* tls = nullptr;
  if (BIO_do_handshake(connection) == 1 && BIO_get_ssl(connection, &tls) == 1) {
    X509* const certificate = SSL_get1_peer_certificate(tls);
    if (certificate != nullptr) text = pem(certificate);
    X509_free(certificate);
  }
  BIO_free_all(connection);
  SSL_CTX_free(context);
  return text;
}

}  // namespace ibpod
