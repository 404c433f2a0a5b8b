// TlsContext: the certificate of a server, and the authority of its clients' certificates.
#pragma once

#include "lib/base/result.h"

#include <memory>
#include <string>

using SSL_CTX = struct ssl_ctx_st;

namespace ibpod::fake_ufm {

// PEM texts.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca = {};  // empty: no client is asked for a certificate
};

using TlsContext = std::shared_ptr<SSL_CTX>;

// invalid if one of the texts is damaged, or key and certificate do not belong together. A client
// need not have a certificate, but one that it has must be valid.
Result<TlsContext> make_tls_context(const TlsFiles& files);

}  // namespace ibpod::fake_ufm
