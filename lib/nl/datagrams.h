// Empties a socket that is only waited on.
#pragma once

#include "lib/base/fd.h"
#include "lib/nl/socket.h"

#include <functional>

namespace ibpod::nl {

// Throws away all datagrams that have arrived. Lost ones (ENOBUFS) count as arrived.
void discard_datagrams(const Fd& socket);

// Hands over all datagrams that have arrived. False: some were lost, or are longer than any that
// the kernel sends by itself, so that nobody knows what they said.
bool take_datagrams(const Fd& socket, const std::function<void(Bytes)>& each);

}  // namespace ibpod::nl
