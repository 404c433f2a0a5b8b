// Credentials of a server that follow their files.
#pragma once

#include "lib/rpc/tls_files.h"

#include <memory>

namespace grpc {
class ServerCredentials;
}

namespace ibpod::rpc {

// Clients must show a certificate of one of the CAs, for clients where its extended key usage says
// for what; TLS 1.2 or 1.3. The files are looked at for each new connection, in the thread that
// hands it to gRPC (1.51: grpc_ssl_server_credentials_create_options_using_config_fetcher; its
// newer TlsServerCredentials with a FileWatcherCertificateProvider throws the certificate in use
// away before it knows whether the next one can be used).
std::shared_ptr<grpc::ServerCredentials> following(std::shared_ptr<FollowedTls> files);

}  // namespace ibpod::rpc
