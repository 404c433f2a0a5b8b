// The part of PfPreparation that is about one VF: whose it is, which GUIDs it is to have, telling
// them.
#include "agent/prepare/pf_preparation.h"
#include "agent/prepare/vf_guid.h"

#include <algorithm>

namespace ibpod::agent {

using node::kHost;

// Locks the VF, and keeps it so. False: a record names it. One of another boot does not count: its
// namespace and all that was given to it have not outlived that, and whoever releases it finds
// nothing to put back (lib/node/restore.h). One that cannot be read may be of any boot.
Result<bool> PfPreparation::claim(const ib::PciAddress& vf) {
  if (!locks_.contains(vf)) {
    FolderLock lock = TRY(node_.records.lock(vf.text(), deadline_));
    locks_.emplace(vf, std::move(lock));
  }
  const std::vector<node::RecordName> names = TRY(node_.records.in_folder(vf.text()));
  return std::none_of(names.begin(), names.end(), [&](const node::RecordName& name) {
    const Result<node::Record> record = node_.records.read(name);
    if (!record) return record.error().code() != Code::not_found;
    return record->boot_id == node_.boot_id;
  });
}

Result<ib::Guid> PfPreparation::guid() const {
  const std::vector<node::RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, pf_.address));
  if (!devices.empty()) return devices.front().node_guid;
  return Error(Code::unavailable,
               pf_.address.text() + " has no RDMA device in the host's namespace");
}

// A VF that waits for its GUID has none until then: another one could be somebody else's.
Result<ib::Guid> PfPreparation::given_port(const VfState& vf, ib::Guid derived) const {
  if (!node_.port_guid) return derived;
  return node_.port_guid(pf_.address, vf.function.vf)
      .during("a GUID of the SM service's pool for " + vf.function.address.text());
}

// What it has is respected, half by half, and what it lacks is given or derived.
Result<node::Guids> PfPreparation::wanted(const VfState& vf) {
  node::Guids guids = force_ ? node::Guids{} : vf.guids();
  if (!guids.none()) return guids;
  const ib::Guid pf = TRY(guid());
  const node::Guids derived = TRY(derive_guids(pf, vf.function.vf));
  if (guids.node.none()) guids.node = derived.node;
  if (guids.port.none()) guids.port = TRY(given_port(vf, derived.port));
  TRY(in_use_.check(vf.function.address, guids.node));
  TRY(in_use_.check(vf.function.address, guids.port));
  return guids;
}

Result<bool> PfPreparation::is_wrong(const VfState& vf) {
  if (!force_) return vf.lacks_guid();
  if (vf.has_own_driver() && !vf.shown) return false;  // a pod has it: not ours to judge
  const node::Guids guids = TRY(wanted(vf));
  if (vf.shown && *vf.shown != guids) return true;
  if (!vf.told) return !vf.shown;  // what it shows is all that can be known
  return node::Guids{vf.told->node_guid, vf.told->port_guid} != guids ||
         vf.told->policy != nl::LinkPolicy::automatic;
}

// The policy first: a VF with a GUID and another policy is one that an administrator wants so, and
// whoever is killed between the two has to be able to tell.
Status PfPreparation::tell(const VfState& vf) {
  const node::Guids guids = TRY(wanted(vf));
  const bool disabled = !vf.told || vf.told->policy == nl::LinkPolicy::disable;
  const bool other = vf.told && vf.told->policy != nl::LinkPolicy::automatic;
  if (disabled || (force_ && other))
    TRY(kernel_.set_vf_policy(vf.function, nl::LinkPolicy::automatic));
  in_use_.add(vf.function.address, guids);
  if (vf.told && node::Guids{vf.told->node_guid, vf.told->port_guid} == guids) return ok();
  TRY(kernel_.set_vf_guids(vf.function, guids.node, guids.port));
  note(vf.function.address, "gave it the port GUID " + guids.port.text());
  return ok();
}

void PfPreparation::note(const ib::PciAddress& function, const std::string& what) {
  done_.push_back(function.text() + ": " + what);
}

}  // namespace ibpod::agent
