// GuidsInUse: every GUID that is seen on the node, so that none is given twice.
#pragma once

#include "agent/prepare/prepare.h"

#include <map>

namespace ibpod::agent {

// Of PFs and VFs: what they show, what PFs were told, and what this boot's records want and have
// found. It looks when it is first asked, and knows of what was given since by add().
class GuidsInUse {
 public:
  // `node` outlives it.
  explicit GuidsInUse(const Node& node) : kernel_(node.kernel), node_(node) {}

  // exists, naming the owner, where another function has the GUID.
  Status check(const ib::PciAddress& vf, ib::Guid guid);
  void add(const ib::PciAddress& vf, const node::Guids& guids);

 private:
  Status look();
  Status look_at_function(const ib::PciAddress& address);
  Status look_at_records();
  void add(const ib::PciAddress& owner, ib::Guid guid);

  node::Kernel& kernel_;
  const Node& node_;
  bool looked_ = false;
  std::multimap<ib::Guid, ib::PciAddress> owners_;
};

}  // namespace ibpod::agent
