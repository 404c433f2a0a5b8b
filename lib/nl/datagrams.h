// Empties a socket that only signals changes.
#pragma once

#include "lib/base/fd.h"
#include "lib/nl/socket.h"

#include <functional>

namespace ibpod::nl {

// Discards all datagrams that have arrived. Lost ones (ENOBUFS) count as arrived.
void discard_datagrams(const Fd& socket);

// Passes all datagrams that have arrived to `each`. False if some were lost or are longer than any
// that the kernel sends unasked, so that their content is unknown.
bool take_datagrams(const Fd& socket, const std::function<void(Bytes)>& each);

}  // namespace ibpod::nl
