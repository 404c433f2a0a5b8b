#include "lib/fabric/node_patterns.h"

#include "lib/base/dns_name.h"
#include "lib/fabric/cluster_names.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

// True if the pattern is a node name when "*" is replaced by one letter.
bool can_match(std::string_view pattern) {
  std::string text(name_in_cluster(pattern));
  const size_t star = text.find('*');
  if (star != text.npos) text[star] = 'a';
  return is_dns_subdomain(text);
}

// Both without a cluster.
bool matches_name(std::string_view pattern, std::string_view node) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == node;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  return node.size() > before.size() + after.size() && node.starts_with(before) &&
         node.ends_with(after);
}

bool matches(std::string_view pattern, std::string_view node) {
  return matches_cluster(pattern, node) &&
         matches_name(name_in_cluster(pattern), name_in_cluster(node));
}

}  // namespace

Status check_node_patterns(const NodePatterns& patterns) {
  for (const std::string& pattern : patterns)
    if (!can_match(pattern) || !has_cluster_pattern(pattern))
      return Error(Code::invalid,
                   "'" + pattern.substr(0, kMostQuoted) +
                       "' is not a node name, which may contain one *, and may have CLUSTER/ "
                       "or */ in front");
  return ok();
}

bool matches_node(const NodePatterns& patterns, std::string_view node) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, node); });
}

}  // namespace ibpod::fabric
