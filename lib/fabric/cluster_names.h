// Names of nodes and namespaces with the Kubernetes cluster that they are in: "dev/n1",
// "dev/team-a". A name without a cluster is one of the default cluster: so are all names of
// versions that knew one cluster only. In patterns each part may be or contain "*"; "*" as the
// cluster is any, also the default one.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace ibpod::fabric {

// The bytes of a name that an error quotes: a cluster, '/' and a namespace.
inline constexpr size_t kMostQuoted = 127;

// The part before the first '/'; empty: the default cluster.
std::string_view cluster_of(std::string_view name);
// The part after it: the name as the cluster itself knows it.
std::string_view name_in_cluster(std::string_view name);
// The whole name; `name` itself for an empty cluster.
std::string with_cluster(std::string_view cluster, std::string_view name);

// True for a name that such an object can have: of a node a DNS subdomain, of a namespace a DNS
// label; a cluster's is a DNS label.
bool is_node_name(std::string_view name);
bool is_namespace_name(std::string_view name);
// True without a cluster, or if that is a DNS label or "*".
bool has_cluster_pattern(std::string_view pattern);
// True if the cluster of the pattern is that of the name, or any.
bool matches_cluster(std::string_view pattern, std::string_view name);

// The clusters that an ibpod-sm serves.
struct ClusterNames {
  // Its names have no cluster in front. Empty: it is not given a name, as without tokens.
  std::string default_cluster;
  std::set<std::string> others;
  bool operator==(const ClusterNames&) const = default;
};
// invalid, with the right spelling, if the cluster of the name or pattern is not one of the others,
// and neither empty nor "*".
Status check_cluster(const ClusterNames& clusters, std::string_view name);

}  // namespace ibpod::fabric
