// NamespaceHistory: on which nodes pods of a namespace have been bound, as far as is known since
// the start: what was on disk then, and what came later.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace ibpod::sm::controller {

class NamespaceHistory {
 public:
  // Of a node so many are remembered; each pod of another one is as if it were the first.
  static constexpr size_t kMostOfNode = 1024;

  struct Added {
    size_t others = 0;  // nodes with such pods before; 0 if it is not the node's first
    bool full = false;  // the node has as many namespaces as are remembered, and this is another
  };
  // A pod of the namespace has been bound on the node.
  Added add(const std::string& node, const std::string& name_space);
  // Whether to report that the node's history is full: once.
  bool take_full(const std::string& node) { return full_.insert(node).second; }
  void forget(const std::string& node);

 private:
  std::map<std::string, std::set<std::string>> nodes_;  // of each namespace
  std::map<std::string, size_t> namespaces_;            // how many, of each node
  std::set<std::string> full_;                          // nodes that are reported
};

}  // namespace ibpod::sm::controller
