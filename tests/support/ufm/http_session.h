// One client's connection, from its first request to its last.
#pragma once

#include "tests/support/ufm/http_message.h"
#include "tests/support/ufm/tls.h"

namespace ibpod::fake_ufm {

// Returns when the client has gone, or shutdown() of `fd`. `tls` may be null.
void serve_http(int fd, const TlsContext& tls, const HttpHandler& handler);

}  // namespace ibpod::fake_ufm
