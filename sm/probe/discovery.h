// survey(): the topology of the subnet behind our own port, by walking its links with directed
// routes: it works before there are LIDs, and does not need a subnet manager.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/mad/query.h"

#include <cstddef>

namespace ibpod::sm::probe {

// How large a subnet may be. A node's answers decide how many others are asked, and they are not
// trusted.
struct DiscoveryLimits {
  size_t nodes = 49151;       // as many as there are unicast LIDs; of adapters each port counts
  size_t requests = 1000000;  // without repetitions; 100 or so for each switch, 3 for each adapter
};

// Asks every node for itself, its ports, its description and, behind IsSM, its subnet manager. The
// calling thread waits. What is not answered is in the topology as unseen; the terms' deadline is
// of the whole survey, and the time in which one question is given up the time that a silent port
// takes. What comes and goes meanwhile may be in it or not.
fabric::Topology discover(mad::Scheduler& scheduler, const mad::QueryOptions& asking,
                          const DiscoveryLimits& limits = {});

}  // namespace ibpod::sm::probe
