// VfLocks: VFs that are locked against ADD and DEL as long as it lives.
#pragma once

#include "agent/prepare/prepare.h"
#include "lib/base/lock.h"

#include <map>

namespace ibpod::agent::prepare {

class VfLocks {
 public:
  // `deps` outlives it. `deadline`: of waiting for a lock.
  VfLocks(const PrepareDeps& deps, Deadline deadline) : deps_(deps), deadline_(deadline) {}

  // Locks the VF. False: a record of this boot names it, or one that cannot be read.
  Result<bool> acquire(const ib::PciAddress& vf);

 private:
  const PrepareDeps& deps_;
  Deadline deadline_;
  std::map<ib::PciAddress, FolderLock> locks_;
};

}  // namespace ibpod::agent::prepare
