#include "lib/node/restore.h"

#include "lib/node/hidden_children.h"
#include "lib/node/names.h"
#include "lib/node/return_to_host.h"
#include "lib/node/vf.h"

#include <algorithm>
#include <cstdlib>

namespace ibpod::node {
namespace {

// How long to look for devices that a move may just be creating, before they are fetched by a
// rebind.
constexpr Duration kAppearance{1000};

Guids pf_guids(const nl::VfSettings& settings) { return {settings.node_guid, settings.port_guid}; }

// One restoration: the record, and where things are now.
class Restoration {
 public:
  Restoration(Kernel& kernel, Record& record, const WriteRecord& write, Function function,
              Deadline deadline)
      : kernel_(kernel),
        record_(record),
        original_(record.original),
        function_(std::move(function)),
        return_{kernel, record, write, deadline, std::nullopt} {}

  // Every step that does not need the one before is tried; all failures are told.
  Status run() {
    Errors errors;
    errors.collect(restore_policy());
    errors.collect(is_vfio(original_.driver) ? restore_pf_guids() : restore_devices());
    return errors.status();
  }

  Status return_only(const Namespace& where) {
    return_.pod = where;
    return return_to_host(return_);
  }

 private:
  Status restore_devices() {
    TRY(find_pod());
    bool unfit = TRY(needs_rebind());
    if (!unfit) {
      TRY(return_to_host(return_));
      unfit = TRY(has_leftovers());
    }
    if (unfit) TRY(rebind());
    clear_rebind_pending();
    TRY(restore_pf_guids());
    TRY(remove_children(return_, kHost));
    TRY(restore_names(kernel_, record_, return_.deadline));
    return verify();
  }

  Status find_pod() {
    std::optional<Namespace> now = TRY(kernel_.find_namespace(record_.netns.path));
    if (now == record_.netns) return_.pod = std::move(now);
    return ok();
  }

  void clear_rebind_pending() {
    if (!record_.rebind_pending) return;
    record_.rebind_pending = false;
    (void)return_.write(record_);  // until it can be written, a restoration binds for nothing
  }

  // Nothing where the kernel cannot say it.
  Result<std::optional<nl::VfSettings>> settings() {
    const Result<nl::VfSettings> now = kernel_.vf_settings(function_);
    if (now) return std::optional<nl::VfSettings>(*now);
    if (now.error().code() != Code::unsupported) return now.error();
    return std::optional<nl::VfSettings>();
  }

  Status restore_policy() {
    if (!original_.policy || !record_.spec.policy) return ok();
    const std::optional<nl::VfSettings> now = TRY(settings());
    if (now && now->policy == *original_.policy) return ok();
    return kernel_.set_vf_policy(function_, *original_.policy);
  }

  // The kernel takes no zero: all-ones says none.
  Status configure_pf(const Guids& guids) {
    const Guids told = guids.none() ? Guids{ib::kNoGuid, ib::kNoGuid} : guids;
    return kernel_.set_vf_guids(function_, told.node, told.port);
  }

  Guids shown_before() const { return original_.guids.value_or(Guids{}); }

  // True if the PF had no GUIDs for the VF, or could not report them. Then the GUIDs that the VF
  // had shown are the best.
  bool pf_had_no_guids() const {
    return !original_.pf_configured || original_.pf_configured->none();
  }

  // True if the PF had other GUIDs configured, for the next time the VF is bound.
  bool pf_had_other_guids() const {
    return !pf_had_no_guids() && !same(*original_.pf_configured, shown_before());
  }

  Status restore_pf_guids() {
    // Neither ADD nor a rebind has told the PF any GUIDs.
    if (!record_.spec.guids && !pf_had_other_guids()) return ok();
    const std::optional<nl::VfSettings> now = TRY(settings());
    if (now && original_.pf_configured && same(pf_guids(*now), *original_.pf_configured))
      return ok();
    const Guids before = pf_had_no_guids() ? shown_before() : *original_.pf_configured;
    if (now && same(pf_guids(*now), before)) return ok();
    return configure_pf(before);
  }

  // True if moving is not enough: other GUIDs, another driver, a bind or a move that was cut short,
  // or devices that are in neither namespace (the pod may have moved them on, or its namespace
  // lives on without a path).
  Result<bool> needs_rebind() {
    if (record_.rebind_pending || function_.driver != original_.driver) return true;
    std::optional<Guids> shown;
    const bool visible =
        TRY(wait_until(kernel_, return_.deadline.at_most(kAppearance),
                       [&]() -> Result<bool> { return reachable(return_, shown); }));
    return !visible || !same(*shown, shown_before());
  }

  // True if a bind would not give the VF the GUIDs that it had shown: ADD has told the PF other
  // ones, or the PF's driver has forgotten them (it was loaded again, or the VF was made again).
  Result<bool> needs_pf_guids() {
    if (record_.spec.guids || pf_had_other_guids()) return true;
    const std::optional<nl::VfSettings> now = TRY(settings());
    return now && !same(pf_guids(*now), original_.pf_configured.value_or(shown_before()));
  }

  // True if moving was not enough. A move of the RDMA device has made the interface again.
  Result<bool> has_leftovers() {
    if (record_.spec.isolation) return false;
    TRY(remove_children(return_, kHost));
    return has_hidden_children(kernel_, record_.device, return_.deadline);
  }

  // Brings every device home, wherever it is, and makes the VF read its GUIDs again.
  Status rebind() {
    mark_rebind_pending(return_);
    TRY(kernel_.set_driver(record_.device, std::nullopt));
    const bool forgotten = TRY(needs_pf_guids());
    if (forgotten) TRY(configure_pf(shown_before()));
    TRY(kernel_.set_driver(record_.device, original_.driver));
    return await_home(return_);
  }

  Status verify() {
    const std::optional<Guids> shown = TRY(own_guids(kernel_, kHost, record_.device));
    const Guids before = shown_before();
    if (!shown || !same(*shown, before)) {
      return Error(Code::internal, record_.device.text() + " shows " +
                                       (shown ? "the port GUID " + shown->port.text() : "no GUID") +
                                       " instead of " + before.port.text());
    }
    return ok();
  }

  Kernel& kernel_;
  Record& record_;
  const Original& original_;
  Function function_;
  ReturnContext return_;
};

// True if something of the VF is in the very namespace that the record names.
Result<bool> is_inside(Kernel& kernel, const Record& record) {
  const std::optional<Namespace> pod = TRY(kernel.find_namespace(record.netns.path));
  if (pod != record.netns) return false;
  const std::vector<Netdev> netdevs = TRY(kernel.own_netdevs(*pod, record.device));
  if (!netdevs.empty()) return true;
  // In shared mode the host sees the pod's RDMA devices, too.
  const std::vector<RdmaDevice> there = TRY(kernel.rdma_devices(*pod, record.device));
  const std::vector<RdmaDevice> here = TRY(kernel.rdma_devices(kHost, record.device));
  return here.size() < there.size();
}

}  // namespace

Status restore(Kernel& kernel, Record& record, const WriteRecord& write, Deadline deadline) {
  const std::optional<Function> function = TRY(kernel.function(record.device));
  // Taken out of the machine, or a PF, of which nothing was changed.
  if (!function || !function->pf) return ok();
  return Restoration(kernel, record, write, *function, deadline)
      .run()
      .during("restore " + record.device.text());
}

Status clear_identity(Kernel& kernel, const ib::PciAddress& device, Deadline deadline) {
  const std::optional<Function> function = TRY(kernel.function(device));
  if (!function || !function->pf) return ok();
  TRY(kernel.set_vf_guids(*function, ib::kNoGuid, ib::kNoGuid));
  if (!function->driver || is_vfio(*function->driver)) return ok();
  TRY(kernel.set_driver(device, std::nullopt));
  TRY(kernel.set_driver(device, function->driver));
  const bool clean = TRY(wait_until(kernel, deadline, [&]() -> Result<bool> {
    const std::optional<Guids> shown = TRY(own_guids(kernel, kHost, device));
    return shown && shown->none();
  }));
  if (!clean)
    return Error(Code::unavailable,
                 device.text() + " still shows the last pod's GUID after a rebind");
  return ok();
}

Status return_to_host_from(Kernel& kernel, const Namespace& where, const ib::PciAddress& device,
                           Deadline deadline) {
  const std::optional<Function> function = TRY(kernel.function(device));
  if (!function || !function->pf) return ok();
  Record nothing;
  nothing.device = device;
  const WriteRecord nowhere = [](const Record&) { return ok(); };
  return Restoration(kernel, nothing, nowhere, *function, deadline).return_only(where);
}

Result<bool> has_traces(Kernel& kernel, const Record& record) {
  const std::optional<Function> function = TRY(kernel.function(record.device));
  if (!function || !function->pf) return false;
  const bool inside = TRY(is_inside(kernel, record));
  if (inside || !record.spec.guids) return inside;
  const std::optional<Guids> shown = TRY(own_guids(kernel, kHost, record.device));
  if (shown && same(*shown, *record.spec.guids)) return true;
  const Result<nl::VfSettings> told = kernel.vf_settings(*function);
  if (told) return same(pf_guids(*told), *record.spec.guids);
  // A PF that cannot be asked now has been told no GUIDs since the boot.
  const Code code = told.error().code();
  if (code == Code::unsupported || code == Code::unavailable) return false;
  return told.error();
}

Result<Liveness> liveness(Kernel& kernel, const Record& record, const std::string& boot_id) {
  if (record.stage != Stage::attached || record.boot_id != boot_id) return Liveness::dead;
  const netns::NetnsStatus seen = TRY(kernel.namespace_status(record.netns));
  switch (seen) {
    case netns::NetnsStatus::same:
      return Liveness::live;
    case netns::NetnsStatus::gone:
      return Liveness::dead;
    case netns::NetnsStatus::unclear:
      return Liveness::unknown;
  }
  std::abort();
}

}  // namespace ibpod::node
