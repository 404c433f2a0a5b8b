// STATUS: whether an ADD of this network can succeed on this node at all.
#pragma once

#include "lib/attach/context.h"

namespace ibpod::attach {

// Fails only for what no ADD can survive: a runtime may turn the whole node not-ready on it.
// `node`: whether the node has what the plugin's own configuration needs.
Status status(const Context& context, const Status& node, Duration timeout);

}  // namespace ibpod::attach
