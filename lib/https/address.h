// The address of a server.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod::https {

// invalid unless it is https://HOST or https://HOST:PORT, an IPv6 host in brackets. No other
// scheme: requests carry credentials.
Status check_address(std::string_view address);

}  // namespace ibpod::https
