// Credentials of a server that follow their files.
#pragma once

#include "lib/rpc/tls_files.h"

#include <memory>

namespace grpc {
class ServerCredentials;
}

namespace ibpod::rpc {

// A client's certificate is of one of the CAs, and for clients where its extended key usage says
// for what. `optional`: a client may show none, but no other. A client with none has no name until
// its calls carry a proof of their own.
enum class ClientCertificate { required, optional };

// For TLS 1.2 or 1.3. The files are looked at for each new connection, in the thread that
// hands it to gRPC (1.51: grpc_ssl_server_credentials_create_options_using_config_fetcher; its
// newer TlsServerCredentials with a FileWatcherCertificateProvider throws the certificate in use
// away before it knows whether the next one can be used).
std::shared_ptr<grpc::ServerCredentials> following(std::shared_ptr<FollowedTls> files,
                                                   ClientCertificate client);

}  // namespace ibpod::rpc
