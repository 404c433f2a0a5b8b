// STATUS: whether an ADD of this network can succeed on this node at all.
#pragma once

#include "lib/attach/context.h"

namespace ibpod::attach {

// Fails only for what no ADD can survive: a runtime may turn the whole node not-ready on it.
Status status(const Context& context, bool isolation, Duration timeout);

}  // namespace ibpod::attach
