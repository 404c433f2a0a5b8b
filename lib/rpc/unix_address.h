// The address of a Unix socket.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <sys/un.h>

namespace ibpod::rpc {

// invalid if the path is empty or longer than the kernel's 107 bytes (unix(7)).
Result<sockaddr_un> unix_address(const Path& path);

// A unix stream socket, neither bound nor connected; it does not block.
Result<Fd> unix_socket();

// Connects without waiting: unavailable if no process listens or its queue is full, not_found if
// there is no socket.
Result<Fd> connect_socket(const Path& path);

}  // namespace ibpod::rpc
