// Nodes whose pods are allowed something, as an administrator names them.
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// Each is a node's name, in which one "*" may stand for one or more characters of any kind; "*" is
// any node of the default cluster. Nodes of another cluster, or of any, have its name or "*" in
// front (cluster_names.h): "dev/gpu-*", "*/n1". None at all: every node of every cluster.
using NodePatterns = std::vector<std::string>;

// invalid, naming the first that no node's name can match.
Status check_node_patterns(const NodePatterns& patterns);
bool matches_node(const NodePatterns& patterns, std::string_view node);

}  // namespace ibpod::fabric
