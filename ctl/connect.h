// connect(): the SM service over the wire.
#pragma once

#include "ctl/session.h"

#include <memory>

namespace ibpod::ctl {

// invalid where the address is neither unix:PATH nor HOST:PORT, an IPv6 host in brackets, and where
// a certificate is missing for the latter. That nobody answers is told by the first question.
Result<std::unique_ptr<Service>> connect(const SmPlace& place);

}  // namespace ibpod::ctl
