#include "sm/steward/namespace_history.h"

namespace ibpod::sm {

size_t NamespaceHistory::add(const std::string& node, const std::string& name_space) {
  size_t& known = namespaces_[node];
  if (known >= kMostOfNode) return 0;
  std::set<std::string>& nodes = nodes_[name_space];
  if (!nodes.insert(node).second) return 0;
  ++known;
  return nodes.size() - 1;
}

void NamespaceHistory::forget(const std::string& node) {
  if (namespaces_.erase(node) == 0) return;
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    at->second.erase(node);
    at = at->second.empty() ? nodes_.erase(at) : std::next(at);
  }
}

}  // namespace ibpod::sm
