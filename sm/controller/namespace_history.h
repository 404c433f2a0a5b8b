// NamespaceHistory: the nodes on which pods of each namespace were bound: those in the store at the
// start, and later ones.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace ibpod::sm::controller {

class NamespaceHistory {
 public:
  // The most namespaces remembered per node. Every pod of a further namespace counts as its first.
  static constexpr size_t kMostOfNode = 1024;

  struct Added {
    size_t others = 0;  // other nodes with such pods; 0 if it is not the first on this node
    bool full = false;  // the namespace is not remembered: the node has kMostOfNode already
  };
  // Records that a pod of the namespace has been bound on the node.
  Added add(const std::string& node, const std::string& name_space);
  // True at the first call for a node: its full history has to be reported once.
  bool take_full(const std::string& node) { return full_.insert(node).second; }
  void forget(const std::string& node);

 private:
  std::map<std::string, std::set<std::string>> nodes_;  // by namespace
  std::map<std::string, size_t> namespaces_;            // count by node
  std::set<std::string> full_;  // nodes whose full history has been reported
};

}  // namespace ibpod::sm::controller
