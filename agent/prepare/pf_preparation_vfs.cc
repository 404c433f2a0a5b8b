// The part of PfPreparation that gives existing VFs what they lack.
#include "agent/prepare/pf_preparation.h"

#include <algorithm>

namespace ibpod::agent::prepare {

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

Status PfPreparation::complete_vf(uint32_t number, std::vector<uint32_t>& to_bind) {
  const ib::PciAddress& address = pf_.vfs[number];
  const VfState before = TRY(read_vf_state(kernel_, address));
  const bool wrong_before = TRY(guids_.needs_change(before));
  if (!wrong_before) return ok();
  const bool ours = TRY(locks_.acquire(address));
  if (!ours) return ok();
  const VfState vf = TRY(read_vf_state(kernel_, address));
  const bool wrong = TRY(guids_.needs_change(vf));
  if (!wrong) return ok();
  if (!vf.has_own_driver()) return set_guids(vf);
  TRY(check_idle(kernel_, vf));
  if (!pf_.autoprobe && !force_) {
    return Error(Code::busy,
                 "it must be bound again to get its GUID, but the kernel does not bind VFs while "
                 "sriov_drivers_autoprobe of " +
                     pf_.address.text() + " is 0: set it to 1, or set \"force\": true");
  }
  const node::Guids guids = TRY(guids_.desired(vf));
  TRY(set_guids(vf));
  if (vf.shown != guids) to_bind.push_back(number);
  return ok();
}

Status PfPreparation::rebind(const std::vector<uint32_t>& vfs) {
  const Intent intent{pf_.address, deps_.boot_id, pf_.driver.value_or(""), vfs, force_};
  TRY(intents_.write(intent));
  Errors errors;
  for (const uint32_t vf : vfs) {
    const Status unbound = kernel_.set_driver(pf_.vfs[vf], std::nullopt);
    if (unbound) add_change(pf_.vfs[vf], "bound again to get its GUID");
    errors.collect(unbound, pf_.vfs[vf].text());
  }
  errors.collect(finish(intent));
  return errors.status();
}

}  // namespace ibpod::agent::prepare
