#include "lib/fabric/namespaces.h"

#include "lib/base/dns_name.h"
#include "lib/fabric/cluster_names.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

Status check_one(const std::string& pattern) {
  const std::string_view name_space = name_in_cluster(pattern);
  if (has_cluster_pattern(pattern) && (name_space == "*" || is_dns_label(name_space))) return ok();
  const bool has_cluster = pattern.find('/') != std::string::npos;
  return Error(Code::invalid,
               "'" + pattern.substr(0, kMostQuoted) +
                   (has_cluster ? "' is not CLUSTER/NAMESPACE, each of which may be *"
                                : "' is not a namespace or *"));
}

bool matches(std::string_view pattern, std::string_view name_space) {
  const std::string_view allowed = name_in_cluster(pattern);
  return matches_cluster(pattern, name_space) &&
         (allowed == "*" || allowed == name_in_cluster(name_space));
}

}  // namespace

Status check(const Namespaces& namespaces) {
  for (const std::string& name_space : namespaces) TRY(check_one(name_space));
  return ok();
}

bool contains(const Namespaces& namespaces, std::string_view name_space) {
  return std::any_of(namespaces.begin(), namespaces.end(),
                     [&](const std::string& allowed) { return matches(allowed, name_space); });
}

}  // namespace ibpod::fabric
