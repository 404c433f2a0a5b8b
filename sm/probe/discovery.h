// discover(): the topology of the subnet behind our own port. It follows the links with directed
// routes, which need neither LIDs nor a subnet manager.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/mad/query.h"

#include <cstddef>

namespace ibpod::sm::probe {

// Limits of a subnet's size. The answers of nodes, which are not trusted, decide how many others
// are asked.
struct DiscoveryLimits {
  size_t nodes = 49151;       // the number of unicast LIDs; each port of an adapter counts
  size_t requests = 1000000;  // without retries; about 100 for each switch, 3 for each adapter
};

// Asks every node for itself, its ports, its description and, with IsSM, its subnet manager;
// blocks. Unanswered requests are in the topology. `asking`: the deadline of the whole discovery,
// and the timeout of each request. Changes of the subnet meanwhile may be missed.
fabric::Topology discover(mad::Scheduler& scheduler, const mad::QueryOptions& asking,
                          const DiscoveryLimits& limits = {});

}  // namespace ibpod::sm::probe
