#include "lib/fabric/cluster_names.h"

#include "lib/base/dns_name.h"
#include "lib/base/join.h"

namespace ibpod::fabric {
namespace {

constexpr size_t kMostListed = 8;

bool has_valid_cluster(std::string_view name) {
  return cluster_of(name) != "*" && has_cluster_pattern(name);
}

}  // namespace

std::string_view cluster_of(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == name.npos ? std::string_view() : name.substr(0, slash);
}

std::string_view name_in_cluster(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

std::string with_cluster(std::string_view cluster, std::string_view name) {
  if (cluster.empty()) return std::string(name);
  return std::string(cluster) + "/" + std::string(name);
}

bool is_node_name(std::string_view name) {
  return has_valid_cluster(name) && is_dns_subdomain(name_in_cluster(name));
}

bool is_namespace_name(std::string_view name) {
  return has_valid_cluster(name) && is_dns_label(name_in_cluster(name));
}

bool has_cluster_pattern(std::string_view pattern) {
  const std::string_view cluster = cluster_of(pattern);
  return pattern.find('/') == pattern.npos || cluster == "*" || is_dns_label(cluster);
}

bool matches_cluster(std::string_view pattern, std::string_view name) {
  const std::string_view cluster = cluster_of(pattern);
  return cluster == "*" || cluster == cluster_of(name);
}

Status check_cluster(const ClusterNames& clusters, std::string_view name) {
  const std::string cluster(cluster_of(name));
  if (cluster.empty() || cluster == "*" || clusters.others.contains(cluster)) return ok();
  const std::string got = "\"" + std::string(name.substr(0, kMostQuoted)) + "\"";
  if (cluster == clusters.default_cluster)
    return Error(Code::invalid,
                 "expected \"" + std::string(name_in_cluster(name).substr(0, kMostQuoted)) +
                     "\", got " + got + ": " + cluster +
                     " is the default cluster, whose names have no cluster in front");
  const std::string known = clusters.others.empty()
                                ? "expected a name without a cluster"
                                : "expected " + join_first(kMostListed, clusters.others) +
                                      " before the '/', or a name of the default cluster";
  return Error(Code::invalid, known + ", got " + got +
                                  ": \"clusters\" of ibpod-sm's configuration " +
                                  "has no other cluster");
}

}  // namespace ibpod::fabric
