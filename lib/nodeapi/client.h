// Client: a Node behind its agent's socket.
#pragma once

#include "lib/base/files.h"
#include "lib/nodeapi/node.h"

#include <memory>

namespace ibpod::nodeapi {

// Each call makes a connection of its own, so that the agent can restart. unavailable while no
// agent answers.
std::unique_ptr<Node> connect(const Path& socket);

}  // namespace ibpod::nodeapi
