// GuidsInUse: every GUID that is seen on the node, so that none is given twice.
#pragma once

#include "agent/prepare/prepare.h"

#include <map>

namespace ibpod::agent::prepare {

// The GUIDs of PFs and VFs: those that they show, those configured at PFs, and those in the specs
// and original states of this boot's records. They are read at the first query; later ones are
// added by add().
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
