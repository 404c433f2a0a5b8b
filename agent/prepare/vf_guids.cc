#include "agent/prepare/vf_guids.h"

#include "agent/prepare/derive_guids.h"

namespace ibpod::agent::prepare {

using node::kHost;

Result<ib::Guid> VfGuids::pf_guid() const {
  const std::vector<node::RdmaDevice> devices = TRY(deps_.kernel.rdma_devices(kHost, pf_));
  if (!devices.empty()) return devices.front().node_guid;
  return Error(Code::unavailable, pf_.text() + " has no RDMA device in the host's namespace");
}

// A VF that waits for a GUID of the pool gets no other: another port might have it.
Result<ib::Guid> VfGuids::port_guid_for(const VfState& vf, ib::Guid derived) const {
  if (!deps_.port_guid) return derived;
  return deps_.port_guid(pf_, vf.function.vf)
      .during("get a GUID of the SM service's pool for " + vf.function.address.text());
}

Result<node::Guids> VfGuids::desired(const VfState& vf) const {
  node::Guids guids = rules_.keep_guids() ? vf.guids() : node::Guids{};
  if (!guids.none()) return guids;
  const ib::Guid pf = TRY(pf_guid());
  const node::Guids derived = TRY(derive_guids(pf, vf.function.vf));
  if (guids.node.none()) guids.node = derived.node;
  if (guids.port.none()) guids.port = TRY(port_guid_for(vf, derived.port));
  TRY(in_use_.check(vf.function.address, guids.node));
  TRY(in_use_.check(vf.function.address, guids.port));
  return guids;
}

// The state of the VF before the pod that has it, which may have requested other GUIDs.
Result<std::optional<node::Original>> VfGuids::recorded(const ib::PciAddress& vf) const {
  const std::vector<node::RecordName> names = TRY(deps_.records.in_folder(vf.text()));
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = deps_.records.read(name);
    if (!record || record->boot_id != deps_.boot_id) continue;
    const node::Original& original = record->original;
    if (original.guids || original.pf_configured) return std::optional(original);
  }
  return std::optional<node::Original>();
}

// A PF that tells no GUIDs says nothing against those that the VF shows.
Result<bool> VfGuids::is_foreign(const VfState& vf) const {
  const node::Guids guids = TRY(desired(vf));
  const auto differs = [&](const std::optional<node::Guids>& shown,
                           const std::optional<node::Guids>& at_pf) {
    const bool told = at_pf && !(shown && at_pf->node.none() && at_pf->port.none());
    return (shown && *shown != guids) || (told && *at_pf != guids);
  };
  const std::optional<node::Original> original = TRY(recorded(vf.function.address));
  if (original) return differs(original->guids, original->pf_configured);
  if (vf.has_own_driver() && !vf.shown && !vf.pf_configured) return true;
  return differs(vf.shown, vf.pf_guids());
}

Result<bool> VfGuids::needs_change(const VfState& vf) const {
  if (rules_.pool) {
    const bool foreign = TRY(is_foreign(vf));
    if (foreign) return true;
  }
  if (!rules_.force) return vf.lacks_guid();
  if (vf.has_own_driver() && !vf.shown) return false;  // a pod has it: not ours to judge
  const node::Guids guids = TRY(desired(vf));
  if (vf.shown && *vf.shown != guids) return true;
  if (!vf.pf_configured) return !vf.shown;  // what it shows is all that can be known
  return vf.pf_guids() != guids || vf.pf_configured->policy != nl::LinkPolicy::automatic;
}

// Sets the policy first: if the process is killed between the two, the next run must not take the
// VF for one with a GUID and another policy, which is the choice of an administrator.
Result<std::optional<ib::Guid>> VfGuids::set(const VfState& vf) {
  const node::Guids guids = TRY(desired(vf));
  const bool disabled = !vf.pf_configured || vf.pf_configured->policy == nl::LinkPolicy::disable;
  const bool other = vf.pf_configured && vf.pf_configured->policy != nl::LinkPolicy::automatic;
  if (disabled || (rules_.force && other))
    TRY(deps_.kernel.set_vf_policy(vf.function, nl::LinkPolicy::automatic));
  in_use_.add(vf.function.address, guids);
  if (vf.pf_guids() == guids) return std::optional<ib::Guid>();
  TRY(deps_.kernel.set_vf_guids(vf.function, guids.node, guids.port));
  return std::optional(guids.port);
}

}  // namespace ibpod::agent::prepare
