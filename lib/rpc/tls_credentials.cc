#include "lib/rpc/tls_credentials.h"

#include <grpc/grpc_security.h>
#include <grpcpp/impl/grpc_library.h>
#include <grpcpp/security/server_credentials.h>

namespace ibpod::rpc {
namespace {

// gRPC's C++ API has no credentials that ask for a certificate again; its C API has.
class FollowingCredentials final : public grpc::ServerCredentials {
 public:
  FollowingCredentials(std::shared_ptr<FollowedTls> files, ClientCertificate client)
      : files_(std::move(files)) {
    const auto request = client == ClientCertificate::required
                             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            request, &FollowingCredentials::fetch, this));
  }
  FollowingCredentials(const FollowingCredentials&) = delete;
  FollowingCredentials& operator=(const FollowingCredentials&) = delete;
  FollowingCredentials(FollowingCredentials&&) = delete;
  FollowingCredentials& operator=(FollowingCredentials&&) = delete;
  ~FollowingCredentials() override { grpc_server_credentials_release(credentials_); }

 private:
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    auto& following = *static_cast<FollowingCredentials*>(self);
    std::shared_ptr<const TlsTexts> now = following.files_->now();
    if (now == following.given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    grpc_ssl_pem_key_cert_pair pair{now->key.c_str(), now->certificate.c_str()};
    *config = grpc_ssl_server_certificate_config_create(now->ca.c_str(), &pair, 1);
    following.given_ = std::move(now);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<FollowedTls> files_;
  std::shared_ptr<const TlsTexts> given_;
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> following(std::shared_ptr<FollowedTls> files,
                                                   ClientCertificate client) {
  return std::make_shared<FollowingCredentials>(std::move(files), client);
}

}  // namespace ibpod::rpc
