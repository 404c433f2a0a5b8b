// Client: a Node behind its agent's socket.
#pragma once

#include "lib/base/files.h"
#include "lib/nodeapi/node.h"

#include <memory>

namespace ibpod::nodeapi {

// Each question makes a connection of its own, so that an agent may come and go. unavailable while
// nobody answers.
std::unique_ptr<Node> connect(const Path& socket);

}  // namespace ibpod::nodeapi
