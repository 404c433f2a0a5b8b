// connect(): the SM service over the wire.
#pragma once

#include "ctl/session.h"

#include <memory>

namespace ibpod::ctl {

// invalid (wrong usage) if the address is neither unix:PATH nor HOST:PORT (an IPv6 host in
// brackets), or if HOST:PORT comes without a certificate. Reported as kOwnFiles if a file cannot be
// used. The first request fails if the service does not answer, or has another fabric
// (kOtherFabric).
Result<std::unique_ptr<Service>> connect(const SmAddress& address);

}  // namespace ibpod::ctl
