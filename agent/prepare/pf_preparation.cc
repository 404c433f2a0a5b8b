#include "agent/prepare/pf_preparation.h"

#include "agent/prepare/vf_users.h"
#include "lib/node/describe.h"
#include "lib/node/vf.h"

#include <net/if_arp.h>

namespace ibpod::agent::prepare {
namespace {

using node::kHost;

constexpr std::string_view kHalfBound =
    "its last bind was interrupted, and it is bound again as soon as nothing uses it";

// If the kubelet does not answer, the VF gets back the driver that it had.
Status check_left_unbound(const PrepareDeps& deps, const ib::PciAddress& vf,
                          const std::string& driver) {
  const Status used = check_pod(deps.pod_of_now, vf);
  if (used || used.error().code() != Code::busy) return ok();
  return Status(used.error())
      .during("it has no driver and gets one when its pod has gone, unless you bind it (echo " +
              vf.text() + " > /sys/bus/pci/drivers/" + driver + "/bind)");
}

std::string number_of_vfs(size_t count) {
  return std::to_string(count) + (count == 1 ? " VF" : " VFs");
}

Status check_count(const node::Pf& pf, const PfConfig& config) {
  const uint32_t count = config.vfs.value_or(0);
  if (count <= pf.total_vfs) return ok();
  const std::string number = std::to_string(count);
  if (pf.total_vfs == 0) {
    return Error(Code::unsupported,
                 config.path + ".numVfs: " + number +
                     " VFs are wanted, but the adapter's firmware has SR-IOV off "
                     "(sriov_totalvfs is 0 or missing): " +
                     node::set_firmware(pf.address, "SRIOV_EN=1 NUM_OF_VFS=" + number));
  }
  const std::string most = std::to_string(pf.total_vfs);
  return Error(Code::invalid, config.path + ".numVfs: " + number + " VFs are wanted, but " + most +
                                  " are the most that it can make (sriov_totalvfs): take " + most +
                                  " or less, or " +
                                  node::set_firmware(pf.address, "NUM_OF_VFS=" + number));
}

}  // namespace

void PfPreparation::set_rules(GuidRules rules) {
  rules_ = rules;
  guids_.set_rules(rules);
}

void PfPreparation::add_change(const ib::PciAddress& function, const std::string& what) {
  done_.push_back(function.text() + ": " + what);
}

// --- what cannot be done, before anything is

// VFs have GUIDs and link policy through the PF's IPoIB interface and through nothing else.
Status PfPreparation::check_reach() const {
  const std::vector<node::Netdev> netdevs = TRY(kernel_.netdevs(kHost, pf_.address));
  const node::Netdev* ethernet = nullptr;
  for (const node::Netdev& netdev : netdevs) {
    if (netdev.type == ARPHRD_INFINIBAND) return ok();
    if (netdev.type == ARPHRD_ETHER) ethernet = &netdev;
  }
  if (ethernet != nullptr) {
    return Error(Code::invalid,
                 "its port is in Ethernet mode (interface " + ethernet->name +
                     "): to make it InfiniBand, " +
                     node::set_firmware(pf_.address, node::infiniband_port(pf_.address)));
  }
  return Error(Code::unavailable,
               "it has no IPoIB interface in the host's namespace: load its driver and ib_ipoib, "
               "unless a pod has it");
}

Status PfPreparation::check_host_use(const PfConfig& config) const {
  if (config.allow_host_use) return ok();
  const std::optional<std::string> use = TRY(host_use(kernel_, pf_.address));
  if (!use) return ok();
  return Error(Code::busy, "the host uses it (" + *use +
                               "), so neither it nor its VFs are touched: set allowHostUse in " +
                               config.path +
                               " if VFs may be made and removed, and be given GUIDs, all the same");
}

// --- the number of VFs

Status PfPreparation::apply(const PfConfig& config) {
  set_rules({config.force, config.pool_guids});
  TRY(check_reach());
  TRY(check_count(pf_, config));
  const size_t wanted = config.vfs.value_or(static_cast<uint32_t>(pf_.vfs.size()));
  if (wanted == pf_.vfs.size() && is_complete()) return ok();
  TRY(check_host_use(config));
  Errors errors;
  if (wanted != pf_.vfs.size()) errors.collect(set_count(config));
  // An unfinished attempt is finished first, and by itself.
  const std::optional<Intent> left = TRY(intents_.find(pf_.address));
  if (!left) errors.collect(complete_vfs());
  return errors.status();
}

Status PfPreparation::set_count(const PfConfig& config) {
  const uint32_t count = *config.vfs;
  if (!pf_.vfs.empty() && !rules_.force) {
    return Error(Code::busy, "it has " + number_of_vfs(pf_.vfs.size()) + ", but " + config.path +
                                 ".numVfs is " + std::to_string(count) +
                                 ": existing VFs are kept; set \"force\": true to replace them");
  }
  if (!pf_.vfs.empty()) TRY(remove_all());
  return count == 0 ? ok() : make_vfs(count);
}

// The intent comes first and finish() last, whatever happens between them.
Status PfPreparation::make_vfs(uint32_t count) {
  if (!pf_.driver)
    return Error(Code::unavailable,
                 "it has no driver to make VFs: load the adapter's driver (modprobe mlx5_core), "
                 "and check dmesg");
  Intent intent{pf_.address, deps_.boot_id, *pf_.driver, {}, rules_.force, {}, rules_.pool};
  for (uint32_t vf = 0; vf < count; ++vf) intent.vfs.push_back(vf);
  // If an administrator has autoprobe off, VFs are made and not bound.
  const bool to_be_bound = pf_.autoprobe || rules_.force;
  if (to_be_bound) TRY(intents_.write(intent));
  Errors errors;
  errors.collect(make_unbound(count));
  const Status seen = reload();
  errors.collect(seen);
  if (seen && to_be_bound) errors.collect(finish(intent));
  return errors.status();
}

Status PfPreparation::make_unbound(uint32_t count) {
  if (pf_.autoprobe) TRY(kernel_.set_autoprobe(pf_.address, false));
  TRY(kernel_.set_vf_count(pf_.address, count).during("make " + number_of_vfs(count)));
  add_change(pf_.address, "made " + number_of_vfs(count));
  return ok();
}

Status PfPreparation::remove_all() {
  for (const ib::PciAddress& vf : pf_.vfs) TRY(check_removable(vf).during(vf.text()));
  TRY(kernel_.set_vf_count(pf_.address, 0));
  add_change(pf_.address, "removed " + number_of_vfs(pf_.vfs.size()));
  return reload();
}

Status PfPreparation::check_removable(const ib::PciAddress& address) {
  const bool ours = TRY(locks_.acquire(address));
  if (!ours) return in_use("a pod has it");
  const VfState vf = TRY(read_vf_state(kernel_, address));
  if (!vf.function.driver) return ok();
  if (vf.has_own_driver()) return check_idle(kernel_, vf);
  return in_use("it is bound to " + *vf.function.driver);
}

Status PfPreparation::reload() {
  std::optional<node::Pf> now = TRY(kernel_.pf(pf_.address));
  if (!now) return Error(Code::not_found, "it has disappeared");
  pf_ = std::move(*now);
  return ok();
}

// --- finishing what was begun

Status PfPreparation::finish(const Intent& intent) {
  set_rules({intent.force, intent.pool_guids});
  Errors errors;
  std::vector<VfState> ready;
  Intent left = intent;
  left.binding.reset();
  left.interrupted.clear();
  for (const uint32_t vf : intent.vfs) {
    if (vf >= pf_.vfs.size()) continue;
    const Status made = make_ready(pf_.vfs[vf], intent, ready);
    if (!made && intent.is_half_bound(vf)) left.interrupted.push_back(vf);
    errors.collect(made, pf_.vfs[vf].text());
  }
  // Autoprobe binds nothing that is there already. It goes on whatever else has failed.
  if (!pf_.autoprobe) TRY(kernel_.set_autoprobe(pf_.address, true));
  errors.collect(bind_all(ready, left));
  TRY(errors.status());
  TRY(intents_.remove(pf_.address));
  return reload();
}

// The intent says which bind is underway, so that the next run can finish one that was cut short.
Status PfPreparation::bind_all(const std::vector<VfState>& ready, Intent intent) {
  Errors errors;
  for (const VfState& vf : ready) {
    intent.binding = vf.function.vf;
    TRY(intents_.write(intent));
    errors.collect(bind(vf, intent.driver), vf.function.address.text());
  }
  if (!ready.empty()) {
    intent.binding.reset();
    errors.collect(intents_.write(intent));
  }
  return errors.status();
}

// One that has a driver, or belongs to a pod, is not ours to bind any more. The kubelet's word
// counts where another program has the VF: pods from before a boot wait for VFs that are made.
Status PfPreparation::make_ready(const ib::PciAddress& vf, const Intent& intent,
                                 std::vector<VfState>& ready) {
  const bool ours = TRY(locks_.acquire(vf));
  if (!ours) return ok();
  VfState state = TRY(read_vf_state(kernel_, vf));
  if (intent.is_half_bound(state.function.vf) && state.has_own_driver()) {
    TRY(check_interrupted(deps_, vf, deadline_).during(kHalfBound));
    unbound_.insert(vf);
    TRY(kernel_.set_driver(vf, std::nullopt));
    add_change(vf, "bound again: the last bind was interrupted");
    state = TRY(read_vf_state(kernel_, vf));
  }
  if (state.function.driver) return ok();
  if (intent.rebind && !unbound_.contains(vf)) TRY(check_left_unbound(deps_, vf, intent.driver));
  TRY(set_guids(state));
  ready.push_back(std::move(state));
  return ok();
}

Status PfPreparation::bind(const VfState& vf, const std::string& driver) {
  const ib::PciAddress& address = vf.function.address;
  const node::Guids guids = TRY(guids_.desired(vf));
  TRY(kernel_.set_driver(address, driver));
  std::optional<node::Guids> shown;
  const bool there = TRY(wait_until(kernel_, deadline_, [&]() -> Result<bool> {
    shown = TRY(node::own_guids(kernel_, kHost, address));
    return shown.has_value();
  }));
  if (!there) return Error(Code::unavailable, "its driver has made no RDMA device: check dmesg");
  if (*shown == guids) return ok();
  return Error(Code::internal, "it was bound with the port GUID " + guids.port.text() +
                                   " but shows " + shown->port.text());
}

Status PfPreparation::set_guids(const VfState& vf) {
  const std::optional<ib::Guid> port = TRY(guids_.set(vf));
  if (port) add_change(vf.function.address, "set the port GUID " + port->text());
  return ok();
}

}  // namespace ibpod::agent::prepare
