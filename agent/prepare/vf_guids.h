// VfGuids: the GUIDs that the VFs of one PF should have.
#pragma once

#include "agent/prepare/guids_in_use.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_state.h"

#include <optional>
#include <utility>

namespace ibpod::agent::prepare {

// A GUID that a VF has is kept, each of the two by itself, unless `force`. A missing port GUID
// comes from the SM service's pool if there is one; else both are derived from the PF's GUID.
class VfGuids {
 public:
  // `deps` and `in_use` outlive it.
  VfGuids(const PrepareDeps& deps, ib::PciAddress pf, GuidsInUse& in_use)
      : deps_(deps), pf_(std::move(pf)), in_use_(in_use) {}

  // True: also GUIDs that a VF has are replaced.
  void set_force(bool force) { force_ = force; }

  // exists if another function has one of them; unavailable if the pool or the PF's RDMA device is
  // away: a VF that waits for a GUID of the pool gets no other meanwhile.
  Result<node::Guids> desired(const VfState& vf) const;
  // True if a GUID or the link policy must be set.
  Result<bool> needs_change(const VfState& vf) const;
  // Sets them, and the link policy. Returns the port GUID, or nothing if the GUIDs were set
  // already.
  Result<std::optional<ib::Guid>> set(const VfState& vf);

 private:
  Result<ib::Guid> pf_guid() const;
  Result<ib::Guid> port_guid_for(const VfState& vf, ib::Guid derived) const;

  const PrepareDeps& deps_;
  ib::PciAddress pf_;
  GuidsInUse& in_use_;
  bool force_ = false;
};

}  // namespace ibpod::agent::prepare
