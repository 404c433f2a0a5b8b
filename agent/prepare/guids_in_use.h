// GuidsInUse: every GUID that is seen on the node, so that none is given twice.
#pragma once

#include "agent/prepare/prepare.h"

#include <map>

namespace ibpod::agent::prepare {

// Of PFs and VFs: what they show, what PFs were told, and what this boot's records want and have
// found. It looks when it is first asked, and knows of what was given since by add().
class GuidsInUse {
 public:
  // `node` outlives it.
  explicit GuidsInUse(const PrepareDeps& deps) : kernel_(deps.kernel), deps_(deps) {}

  // exists, naming the owner, where another function has the GUID.
  Status check(const ib::PciAddress& vf, ib::Guid guid);
  void add(const ib::PciAddress& vf, const node::Guids& guids);

 private:
  Status scan();
  Status scan_function(const ib::PciAddress& address);
  Status scan_records();
  void add(const ib::PciAddress& owner, ib::Guid guid);

  node::Kernel& kernel_;
  const PrepareDeps& deps_;
  bool scanned_ = false;
  std::multimap<ib::Guid, ib::PciAddress> owners_;
};

}  // namespace ibpod::agent::prepare
