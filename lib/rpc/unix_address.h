// The address of a unix socket.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <sys/un.h>

namespace ibpod::rpc {

// invalid where the path is empty or longer than the 107 bytes that the kernel takes (unix(7)).
Result<sockaddr_un> unix_address(const Path& path);

// A unix stream socket, neither bound nor connected; it does not block.
Result<Fd> unix_socket();

// A connection to whoever listens there. Never waits: unavailable where the listener's queue is
// full, not_found where there is no socket.
Result<Fd> connect_socket(const Path& path);

}  // namespace ibpod::rpc
