// The part of PfPreparation that gives existing VFs what they lack.
#include "agent/prepare/pf_preparation.h"
#include "agent/prepare/vf_users.h"

#include <algorithm>

namespace ibpod::agent::prepare {
namespace {

constexpr std::string_view kWaits = "it keeps GUIDs that are not of the pool until nothing uses it";

}  // namespace

// One that cannot be judged now may lack something: complete_vfs() returns the reason.
bool PfPreparation::is_complete() {
  return std::none_of(pf_.vfs.begin(), pf_.vfs.end(), [&](const ib::PciAddress& address) {
    const Result<VfState> vf = read_vf_state(kernel_, address);
    const Result<bool> wrong = vf ? guids_.needs_change(*vf) : vf.error();
    return !wrong || *wrong;
  });
}

// Each VF by itself: one that is in use does not keep the others from their GUIDs.
Status PfPreparation::complete_vfs() {
  Errors errors;
  std::vector<uint32_t> to_bind;
  for (uint32_t vf = 0; vf < pf_.vfs.size(); ++vf)
    errors.collect(complete_vf(vf, to_bind), pf_.vfs[vf].text());
  if (!to_bind.empty()) errors.collect(rebind(to_bind));
  return errors.status();
}

// The VF of a pod of ours is not touched. If it has GUIDs of others, that is reported, so that
// another call comes after the pod's end.
Status PfPreparation::complete_vf(uint32_t number, std::vector<uint32_t>& to_bind) {
  const ib::PciAddress& address = pf_.vfs[number];
  const VfState before = TRY(read_vf_state(kernel_, address));
  const bool wrong_before = TRY(guids_.needs_change(before));
  if (!wrong_before) return ok();
  const bool ours = TRY(locks_.acquire(address));
  if (!ours) return rules_.pool ? Status(in_use("a pod has it")).during(kWaits) : ok();
  const VfState vf = TRY(read_vf_state(kernel_, address));
  const bool wrong = TRY(guids_.needs_change(vf));
  if (!wrong) return ok();
  TRY(check_may_change(vf, deps_.pod_of));
  if (!vf.has_own_driver()) return set_guids(vf);
  if (!pf_.autoprobe && !rules_.force) {
    return Error(Code::busy,
                 "it must be bound again to get its GUID, but the kernel does not bind VFs while "
                 "sriov_drivers_autoprobe of " +
                     pf_.address.text() + " is 0: set it to 1, or set \"force\": true");
  }
  const node::Guids guids = TRY(guids_.desired(vf));
  if (vf.shown == guids) return set_guids(vf);
  to_bind.push_back(number);
  return ok();
}

// A VF without a port GUID reaches no other port. One that has GUIDs of others may have users of
// which no record tells.
Status PfPreparation::check_may_change(const VfState& vf, const PodOf& pod_of) const {
  const bool known = vf.shown || vf.pf_configured;
  const bool unusable = known && vf.guids().port.none();
  if (rules_.pool && !unusable)
    return check_unused(deps_, pod_of, vf.function.address, deadline_).during(kWaits);
  return vf.has_own_driver() ? check_idle(kernel_, vf) : ok();
}

// The intent names a VF before it is unbound, and not one that has got a user meanwhile.
Status PfPreparation::rebind(const std::vector<uint32_t>& vfs) {
  Intent intent{pf_.address, deps_.boot_id, pf_.driver.value_or(""), {}, rules_.force};
  intent.rebind = true;
  Errors errors;
  for (const uint32_t vf : vfs) {
    const ib::PciAddress& address = pf_.vfs[vf];
    intent.vfs.push_back(vf);
    Status may = intents_.write(intent);
    if (may) may = give_guids_if_unused(address);
    if (!may) intent.vfs.pop_back();
    errors.collect(may ? unbind(address) : may, address.text());
  }
  errors.collect(intents_.write(intent));
  errors.collect(finish(intent));
  return errors.status();
}

// The GUIDs come first: a VF that is unbound has those that it is to be bound with, whatever the
// intent's reader knows of the pool. Looks at the users again, as the turns of other VFs take time.
Status PfPreparation::give_guids_if_unused(const ib::PciAddress& address) {
  const VfState vf = TRY(read_vf_state(kernel_, address));
  TRY(check_may_change(vf, deps_.pod_of_now));
  return set_guids(vf);
}

Status PfPreparation::unbind(const ib::PciAddress& address) {
  unbound_.insert(address);
  TRY(kernel_.set_driver(address, std::nullopt));
  add_change(address, "bound again to get its GUID");
  return ok();
}

}  // namespace ibpod::agent::prepare
