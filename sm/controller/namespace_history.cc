#include "sm/controller/namespace_history.h"

namespace ibpod::sm::controller {

NamespaceHistory::Added NamespaceHistory::add(const std::string& node,
                                              const std::string& name_space) {
  size_t& known = namespaces_[node];
  const auto found = nodes_.find(name_space);
  if (found != nodes_.end() && found->second.contains(node)) return {};
  const size_t others = found == nodes_.end() ? 0 : found->second.size();
  if (known >= kMostOfNode) return {others, true};
  nodes_[name_space].insert(node);
  ++known;
  return {others, false};
}

void NamespaceHistory::forget(const std::string& node) {
  full_.erase(node);
  if (namespaces_.erase(node) == 0) return;
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    at->second.erase(node);
    at = at->second.empty() ? nodes_.erase(at) : std::next(at);
  }
}

}  // namespace ibpod::sm::controller
