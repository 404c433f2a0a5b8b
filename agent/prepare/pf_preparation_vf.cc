// The part of PfPreparation that is about one VF: whose it is, which GUIDs it is to have, telling
// them.
#include "agent/prepare/derive_guids.h"
#include "agent/prepare/pf_preparation.h"

#include <algorithm>

namespace ibpod::agent::prepare {

using node::kHost;

// Locks the VF, and keeps it locked. False: a record names it. A record of another boot does not
// count: its namespace and its device's settings ended with that boot, and its release finds
// nothing to put back (lib/node/restore.h). A record that cannot be read may be of any boot.
Result<bool> PfPreparation::acquire_vf(const ib::PciAddress& vf) {
  if (!locks_.contains(vf)) {
    FolderLock lock = TRY(deps_.records.lock(vf.text(), deadline_));
    locks_.emplace(vf, std::move(lock));
  }
  const std::vector<node::RecordName> names = TRY(deps_.records.in_folder(vf.text()));
  return std::none_of(names.begin(), names.end(), [&](const node::RecordName& name) {
    const Result<node::Record> record = deps_.records.read(name);
    if (!record) return record.error().code() != Code::not_found;
    return record->boot_id == deps_.boot_id;
  });
}

Result<ib::Guid> PfPreparation::pf_guid() const {
  const std::vector<node::RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, pf_.address));
  if (!devices.empty()) return devices.front().node_guid;
  return Error(Code::unavailable,
               pf_.address.text() + " has no RDMA device in the host's namespace");
}

// A VF that waits for a GUID of the pool gets no other meanwhile: another port might have it.
Result<ib::Guid> PfPreparation::port_guid_for(const VfState& vf, ib::Guid derived) const {
  if (!deps_.port_guid) return derived;
  return deps_.port_guid(pf_.address, vf.function.vf)
      .during("get a GUID of the SM service's pool for " + vf.function.address.text());
}

// Existing GUIDs are kept, each of the two by itself; a missing one is assigned or derived.
Result<node::Guids> PfPreparation::desired_guids(const VfState& vf) {
  node::Guids guids = force_ ? node::Guids{} : vf.guids();
  if (!guids.none()) return guids;
  const ib::Guid pf = TRY(pf_guid());
  const node::Guids derived = TRY(derive_guids(pf, vf.function.vf));
  if (guids.node.none()) guids.node = derived.node;
  if (guids.port.none()) guids.port = TRY(port_guid_for(vf, derived.port));
  TRY(in_use_.check(vf.function.address, guids.node));
  TRY(in_use_.check(vf.function.address, guids.port));
  return guids;
}

Result<bool> PfPreparation::needs_change(const VfState& vf) {
  if (!force_) return vf.lacks_guid();
  if (vf.has_own_driver() && !vf.shown) return false;  // a pod has it: not ours to judge
  const node::Guids guids = TRY(desired_guids(vf));
  if (vf.shown && *vf.shown != guids) return true;
  if (!vf.pf_configured) return !vf.shown;  // what it shows is all that can be known
  return node::Guids{vf.pf_configured->node_guid, vf.pf_configured->port_guid} != guids ||
         vf.pf_configured->policy != nl::LinkPolicy::automatic;
}

// Sets the policy first: if the process is killed between the two, the next run must not take the
// VF for one with a GUID and another policy, which is the choice of an administrator.
Status PfPreparation::set_guids(const VfState& vf) {
  const node::Guids guids = TRY(desired_guids(vf));
  const bool disabled = !vf.pf_configured || vf.pf_configured->policy == nl::LinkPolicy::disable;
  const bool other = vf.pf_configured && vf.pf_configured->policy != nl::LinkPolicy::automatic;
  if (disabled || (force_ && other))
    TRY(kernel_.set_vf_policy(vf.function, nl::LinkPolicy::automatic));
  in_use_.add(vf.function.address, guids);
  if (vf.pf_configured &&
      node::Guids{vf.pf_configured->node_guid, vf.pf_configured->port_guid} == guids)
    return ok();
  TRY(kernel_.set_vf_guids(vf.function, guids.node, guids.port));
  add_change(vf.function.address, "set the port GUID " + guids.port.text());
  return ok();
}

void PfPreparation::add_change(const ib::PciAddress& function, const std::string& what) {
  done_.push_back(function.text() + ": " + what);
}

}  // namespace ibpod::agent::prepare
