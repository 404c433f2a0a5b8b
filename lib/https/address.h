// The addresses of servers and of what they serve.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod::https {

// invalid unless it is https://HOST or https://HOST:PORT, an IPv6 host in brackets. No other
// scheme: requests carry credentials.
Status check_address(std::string_view address);

// invalid unless it is https://HOST/PATH or https://HOST:PORT/PATH, in printable ASCII, of at most
// 2,000 bytes. It has no user and no query, because those may be secret, and the URL is logged. The
// error does not quote the URL.
Status check_url(std::string_view url);

}  // namespace ibpod::https
