// NamespaceHistory: on which nodes pods of a namespace have been bound, as far as is known since
// the start: what was on disk then, and what came later.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace ibpod::sm {

class NamespaceHistory {
 public:
  // Of a node so many are remembered; more are as if they had been there before.
  static constexpr size_t kMostOfNode = 1024;

  // A pod of the namespace has been bound on the node. On how many other nodes there were such
  // pods before: 0 where it is not the node's first of that namespace.
  size_t add(const std::string& node, const std::string& name_space);
  void forget(const std::string& node);

 private:
  std::map<std::string, std::set<std::string>> nodes_;  // of each namespace
  std::map<std::string, size_t> namespaces_;            // how many, of each node
};

}  // namespace ibpod::sm
