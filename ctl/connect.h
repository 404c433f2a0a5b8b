// connect(): the SM service over the wire.
#pragma once

#include "ctl/session.h"

#include <memory>

namespace ibpod::ctl {

// invalid where the address is neither unix:PATH nor HOST:PORT, an IPv6 host in brackets, and where
// a certificate is not named for the latter: wrong usage. Reported as kOwnFiles where one cannot be
// used. That nobody answers is told by the first question, and that the service has another fabric
// by the first that it answers so (kOtherFabric).
Result<std::unique_ptr<Service>> connect(const SmAddress& address);

}  // namespace ibpod::ctl
