// VfGuids: the GUIDs that the VFs of one PF should have.
#pragma once

#include "agent/prepare/guids_in_use.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/vf_state.h"

#include <optional>
#include <utility>

namespace ibpod::agent::prepare {

// Which GUIDs of others give way, and what else does.
struct GuidRules {
  bool force = false;  // all, and the link policy
  bool pool = false;   // those that are not of the pool
  bool keep_guids() const { return !force && !pool; }
};

// A GUID that a VF has is kept, each of the two by itself, unless the rules say otherwise. A
// missing port GUID comes from the SM service's pool if there is one; else both are derived from
// the PF's GUID. These are meant by "of the pool": a VF has no others that are.
class VfGuids {
 public:
  // `deps` and `in_use` outlive it.
  VfGuids(const PrepareDeps& deps, ib::PciAddress pf, GuidsInUse& in_use)
      : deps_(deps), pf_(std::move(pf)), in_use_(in_use) {}

  void set_rules(GuidRules rules) { rules_ = rules; }

  // exists if another function has one of them; unavailable if the pool or the PF's RDMA device is
  // away: a VF that waits for a GUID of the pool gets no other meanwhile.
  Result<node::Guids> desired(const VfState& vf) const;
  // True if a GUID or the link policy must be set. With the rule `pool` also true if it cannot be
  // seen which GUIDs a VF has that is in a pod.
  Result<bool> needs_change(const VfState& vf) const;
  // Sets them, and the link policy. Returns the port GUID, or nothing if the GUIDs were set
  // already.
  Result<std::optional<ib::Guid>> set(const VfState& vf);

 private:
  Result<ib::Guid> pf_guid() const;
  Result<ib::Guid> port_guid_for(const VfState& vf, ib::Guid derived) const;
  Result<bool> is_foreign(const VfState& vf) const;
  Result<std::optional<node::Original>> recorded(const ib::PciAddress& vf) const;

  const PrepareDeps& deps_;
  ib::PciAddress pf_;
  GuidsInUse& in_use_;
  GuidRules rules_;
};

}  // namespace ibpod::agent::prepare
