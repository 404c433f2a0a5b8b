// Nodes whose pods are allowed something, as an administrator names them.
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// As in cluster_names.h. In a node's name one "*" may stand for one or more characters of any kind:
// "gpu-*", "dev/*", "*/n1". None at all: every node of every cluster.
using NodePatterns = std::vector<std::string>;

// invalid, naming the first that no node's name can match.
Status check_node_patterns(const NodePatterns& patterns);
bool matches_node(const NodePatterns& patterns, std::string_view node);

}  // namespace ibpod::fabric
