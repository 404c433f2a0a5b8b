// The address of a UFM server.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod::sm::ufm {

// invalid unless it is https://HOST or https://HOST:PORT, an IPv6 host in brackets. No other
// scheme: each request carries credentials.
Status check_address(std::string_view address);

}  // namespace ibpod::sm::ufm
