// Empties a socket that is only waited on.
#pragma once

#include "lib/base/fd.h"

namespace ibpod::nl {

// Throws away all datagrams that have arrived. Lost ones (ENOBUFS) count as arrived.
void discard_arrived(const Fd& socket);

}  // namespace ibpod::nl
