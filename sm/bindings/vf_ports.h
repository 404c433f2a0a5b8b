// vf_ports(): which VF is behind which PF, as the nodes' agents have told it with their bindings.
#pragma once

#include "sm/bindings/node_registry.h"
#include "sm/engine/subnet_manager.h"

#include <vector>

namespace ibpod::sm::bindings {

// The VFs of all bindings, also of those that end: sorted, each VF once. A node could name any
// port, so VfPort::pf is none for a port that belongs to another node, or is a member of a
// partition without being given to this node (nodes.NODE.pfs), or that two nodes have named
// of which neither owns it.
// `nodes` is the registry of these records.
std::vector<engine::VfPort> vf_ports(const state::Records& records, const NodeRegistry& nodes);

}  // namespace ibpod::sm::bindings
