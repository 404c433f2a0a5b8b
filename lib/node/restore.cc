#include "lib/node/restore.h"

#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::node {
namespace {

// How long to look for devices that a move may just be creating, before they are fetched by a
// rebind.
constexpr Duration kAppearance{1000};
// How long to wait for a name that another VF on its way home may hold for a moment.
constexpr Duration kNamePatience{5000};

// A name that nobody else wants: a device steps aside to it, so that two that hold each other's
// name both get through.
std::string parking_name(const ib::PciAddress& device) {
  std::string name = "vf";
  for (const char c : device.text()) {
    if (c != ':' && c != '.') name += c;
  }
  return name;
}

bool taken(const Status& status) { return !status && status.error().code() == Code::exists; }

// Gives a device the name it had. `rename` is tried directly, then from the parking name while the
// other holder may still move on.
template <typename Rename>
Status take_name(Kernel& kernel, const ib::PciAddress& device, const std::string& wanted,
                 Deadline deadline, Rename rename) {
  Status renamed = rename(wanted);
  if (!taken(renamed)) return renamed;
  const Status parked = rename(parking_name(device));
  // A twin of the same function may be there: then it keeps the name it has.
  if (!parked && !taken(parked)) return parked;
  TRY(wait_until(kernel, deadline.at_most(kNamePatience), [&]() -> Result<bool> {
    renamed = rename(wanted);
    return !taken(renamed);
  }));
  return taken(renamed) ? ok() : renamed;
}

// One restoration: the record, and where things are now.
class Restoration {
 public:
  Restoration(Kernel& kernel, const Record& record, Function function, Deadline deadline)
      : kernel_(kernel),
        record_(record),
        found_(record.found),
        function_(std::move(function)),
        deadline_(deadline) {}

  // Every step that does not need the one before is tried; all failures are told.
  Status run() {
    Errors errors;
    errors.collect(restore_policy());
    errors.collect(is_vfio(found_.driver) ? restore_told() : restore_devices());
    return errors.status();
  }

  Status fetch_only(const Namespace& where) {
    pod_ = where;
    return fetch();
  }

 private:
  Status restore_devices() {
    TRY(find_pod());
    const bool lost = TRY(needs_rebind());
    if (lost) {
      TRY(rebind());
    } else {
      TRY(fetch());
    }
    TRY(restore_told());
    TRY(remove_children(kHost));
    TRY(restore_rdma_names());
    TRY(restore_netdevs());
    return verify();
  }

  Status find_pod() {
    std::optional<Namespace> now = TRY(kernel_.find_namespace(record_.netns.path));
    if (now == record_.netns) pod_ = std::move(now);
    return ok();
  }

  // Nothing where the kernel cannot say it.
  Result<std::optional<nl::VfSettings>> settings() {
    const Result<nl::VfSettings> now = kernel_.vf_settings(function_);
    if (now) return std::optional<nl::VfSettings>(*now);
    if (now.error().code() != Code::unsupported) return now.error();
    return std::optional<nl::VfSettings>();
  }

  Status restore_policy() {
    if (!found_.policy) return ok();
    const std::optional<nl::VfSettings> now = TRY(settings());
    if (now && now->policy == *found_.policy) return ok();
    return kernel_.set_vf_policy(function_, *found_.policy);
  }

  // The kernel takes no zero: all-ones says none.
  Status tell(const Guids& guids) {
    const Guids told = guids.none() ? Guids{ib::kNoGuid, ib::kNoGuid} : guids;
    return kernel_.set_vf_guids(function_, told.node, told.port);
  }

  Guids shown_before() const { return found_.guids.value_or(Guids{}); }

  // Whether the PF was told nothing, or could not say what. Then what the VF had shown is the best.
  bool told_nothing() const { return !found_.told || found_.told->none(); }

  Status restore_told() {
    // Nobody has told it anything: neither ADD nor a rebind.
    if (!record_.wanted.guids && !found_.told) return ok();
    const std::optional<nl::VfSettings> now = TRY(settings());
    if (now && found_.told && same(Guids{now->node_guid, now->port_guid}, *found_.told))
      return ok();
    const Guids before = told_nothing() ? shown_before() : *found_.told;
    if (now && same(Guids{now->node_guid, now->port_guid}, before)) return ok();
    return tell(before);
  }

  // Whether moving is not enough: other GUIDs, another driver, or devices that are in neither
  // namespace (the pod may have moved them on, or its namespace lives on without a path).
  Result<bool> needs_rebind() {
    if (function_.driver != found_.driver) return true;
    std::optional<Guids> shown;
    const bool visible = TRY(wait_until(kernel_, deadline_.at_most(kAppearance),
                                        [&]() -> Result<bool> { return look(shown); }));
    return !visible || !same(*shown, shown_before());
  }

  size_t rdma_devices_before() const { return std::max<size_t>(1, found_.rdma_devices.size()); }
  size_t netdevs_before() const { return 1 + found_.other_netdevs.size(); }

  // True when every device of the function is at home or in the pod.
  Result<bool> look(std::optional<Guids>& shown) {
    std::vector<RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, record_.device));
    std::vector<Netdev> netdevs = TRY(own_netdevs(kernel_, kHost, record_.device));
    if (pod_) {
      const std::vector<RdmaDevice> inside = TRY(kernel_.rdma_devices(*pod_, record_.device));
      for (const RdmaDevice& device : inside) {
        const auto same_name = [&](const RdmaDevice& other) { return other.name == device.name; };
        // In shared mode both list the same ones.
        if (std::none_of(devices.begin(), devices.end(), same_name)) devices.push_back(device);
      }
      const std::vector<Netdev> moved = TRY(own_netdevs(kernel_, *pod_, record_.device));
      netdevs.insert(netdevs.end(), moved.begin(), moved.end());
    }
    if (!devices.empty()) shown = Guids{devices.front().node_guid, devices.front().port_guid};
    return netdevs.size() >= netdevs_before() && devices.size() >= rdma_devices_before();
  }

  // Fetches every device home, wherever it is, and makes the VF read its GUIDs anew.
  Status rebind() {
    TRY(kernel_.set_driver(record_.device, std::nullopt));
    const bool told_another = !told_nothing() && !same(*found_.told, shown_before());
    if (record_.wanted.guids || told_another) TRY(tell(shown_before()));
    TRY(kernel_.set_driver(record_.device, found_.driver));
    return await_home();
  }

  Status fetch() {
    if (!pod_) return ok();
    const nl::RdmaNetnsMode mode = TRY(kernel_.rdma_netns_mode());
    const std::vector<RdmaDevice> inside = TRY(kernel_.rdma_devices(*pod_, record_.device));
    if (mode == nl::RdmaNetnsMode::exclusive && !inside.empty()) {
      // The interface needs no fetching of its own: this makes the kernel create it anew, at home.
      for (const RdmaDevice& device : inside) TRY(fetch_rdma(device.name));
      TRY(await_home());
    }
    std::vector<Netdev> netdevs = TRY(own_netdevs(kernel_, *pod_, record_.device));
    if (netdevs.empty()) return ok();
    TRY(remove_children(*pod_));
    for (const Netdev& netdev : netdevs) TRY(fetch_netdev(netdev));
    return await_home();
  }

  // Since 7.x names count in each namespace for itself: at home somebody may have this one by now.
  Status fetch_rdma(const std::string& name) {
    Status moved = kernel_.move_rdma(*pod_, name, kHost);
    if (!taken(moved)) return moved;
    const std::string parking = parking_name(record_.device);
    TRY(kernel_.rename_rdma(*pod_, name, parking));
    return kernel_.move_rdma(*pod_, parking, kHost);
  }

  Status fetch_netdev(const Netdev& netdev) {
    // The pod's altnames would clash with the host's names, and a pod could hold on to the VF so.
    if (!netdev.altnames.empty()) {
      TRY(kernel_.change_netdev(*pod_, netdev.index, {.altnames = std::vector<std::string>()}));
    }
    const std::string parking = parking_name(record_.device);
    std::string name = found_.netdev ? found_.netdev->name : parking;
    const std::optional<Netdev> holder = TRY(kernel_.find_netdev(kHost, name));
    if (holder) name = parking;
    Status moved = kernel_.move_netdev(*pod_, netdev.index, kHost, name);
    if (!taken(moved) || name == parking) return moved;
    // Taken in this very moment: it may have come home all the same, under another name.
    const std::vector<Netdev> inside = TRY(own_netdevs(kernel_, *pod_, record_.device));
    const bool stayed = std::any_of(inside.begin(), inside.end(), [&](const Netdev& other) {
      return other.index == netdev.index;
    });
    return stayed ? kernel_.move_netdev(*pod_, netdev.index, kHost, parking) : ok();
  }

  Status await_home() {
    const bool home = TRY(wait_until(kernel_, deadline_, [&]() -> Result<bool> {
      const std::vector<RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, record_.device));
      const std::vector<Netdev> netdevs = TRY(own_netdevs(kernel_, kHost, record_.device));
      return netdevs.size() >= netdevs_before() && devices.size() >= rdma_devices_before();
    }));
    if (home) return ok();
    return Error(Code::unavailable, "the devices of " + record_.device.text() +
                                        " have not come back to the host's namespace");
  }

  // IPoIB children that were not there before the pod.
  Status remove_children(const Namespace& where) {
    const std::vector<Netdev> netdevs = TRY(kernel_.netdevs(where, record_.device));
    const std::vector<std::string> before =
        found_.netdev ? found_.netdev->children : std::vector<std::string>();
    for (const Netdev& netdev : netdevs) {
      const bool known =
          where.is_host() && std::find(before.begin(), before.end(), netdev.name) != before.end();
      if (netdev.parent && !known) TRY(kernel_.remove_netdev(where, netdev.index));
    }
    return ok();
  }

  Status restore_rdma_names() {
    const std::vector<RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, record_.device));
    std::vector<std::string> names;
    for (const RdmaDevice& device : devices) names.push_back(device.name);
    std::vector<std::string> missing = without(found_.rdma_devices, names);
    std::vector<std::string> strange = without(names, found_.rdma_devices);
    for (size_t i = 0; i < std::min(missing.size(), strange.size()); ++i) {
      std::string name = strange[i];
      TRY(take_name(kernel_, record_.device, missing[i], deadline_, [&](const std::string& wanted) {
        Status renamed = kernel_.rename_rdma(kHost, name, wanted);
        if (renamed) name = wanted;
        return renamed;
      }));
    }
    return ok();
  }

  static std::vector<std::string> without(const std::vector<std::string>& all,
                                          const std::vector<std::string>& those) {
    std::vector<std::string> rest;
    for (const std::string& one : all) {
      if (std::find(those.begin(), those.end(), one) == those.end()) rest.push_back(one);
    }
    return rest;
  }

  // Those that still have a name of before are themselves; the kernel counts the others anew.
  Status restore_netdevs() {
    if (!found_.netdev) return ok();
    std::vector<FoundNetdev> before = found_.other_netdevs;
    before.insert(before.begin(), *found_.netdev);
    std::vector<Netdev> now = TRY(own_netdevs(kernel_, kHost, record_.device));
    for (const FoundNetdev& netdev : before) {
      if (now.empty()) {
        return Error(Code::unavailable,
                     "the interface of " + record_.device.text() + " has disappeared");
      }
      const auto same = std::find_if(now.begin(), now.end(), [&](const Netdev& candidate) {
        return candidate.name == netdev.name;
      });
      const auto chosen = same == now.end() ? first_stranger(now, before) : same;
      TRY(restore_netdev(netdev, *chosen));
      now.erase(chosen);
    }
    return ok();
  }

  static std::vector<Netdev>::iterator first_stranger(std::vector<Netdev>& now,
                                                      const std::vector<FoundNetdev>& before) {
    const auto stranger = std::find_if(now.begin(), now.end(), [&](const Netdev& candidate) {
      return std::none_of(before.begin(), before.end(),
                          [&](const FoundNetdev& netdev) { return netdev.name == candidate.name; });
    });
    return stranger == now.end() ? now.begin() : stranger;
  }

  Status restore_netdev(const FoundNetdev& before, Netdev now) {
    if (now.name != before.name) {
      TRY(take_name(kernel_, record_.device, before.name, deadline_,
                    [&](const std::string& name) { return rename_netdev(now, name); }));
      now = TRY(again(now.index));
    }
    TRY(restore_altnames(before, now));
    const NetdevChange change = difference(before, now);
    // The mode changes only while it is down.
    if (now.up && (change.mode || change.umcast || !before.up)) {
      TRY(kernel_.change_netdev(kHost, now.index, {.up = false}));
    }
    return kernel_.change_netdev(kHost, now.index, change);
  }

  // What udev has added meanwhile stays; what was there and is gone comes back, unless somebody
  // (udev itself, in this moment) has it.
  Status restore_altnames(const FoundNetdev& before, const Netdev& now) {
    std::vector<std::string> altnames = now.altnames;
    for (const std::string& lost : without(before.altnames, now.altnames)) {
      if (lost != now.name) altnames.push_back(lost);
    }
    if (altnames == now.altnames) return ok();
    Status changed = kernel_.change_netdev(kHost, now.index, {.altnames = altnames});
    return taken(changed) ? ok() : changed;
  }

  Result<Netdev> again(IfIndex index) {
    const std::vector<Netdev> netdevs = TRY(own_netdevs(kernel_, kHost, record_.device));
    for (const Netdev& netdev : netdevs) {
      if (netdev.index == index) return netdev;
    }
    return Error(Code::unavailable,
                 "the interface of " + record_.device.text() + " has disappeared");
  }

  // Older kernels rename no interface that is up; and an altname equal to the wanted name is in its
  // way.
  Status rename_netdev(const Netdev& now, const std::string& name) {
    NetdevChange change{.name = name};
    if (now.up) change.up = false;
    if (std::find(now.altnames.begin(), now.altnames.end(), name) != now.altnames.end()) {
      change.altnames = without(now.altnames, {name});
    }
    return kernel_.change_netdev(kHost, now.index, change);
  }

  // Not the hardware address: no VF's interface takes one, so that no pod can have changed it.
  static NetdevChange difference(const FoundNetdev& before, const Netdev& now) {
    NetdevChange change;
    if (now.ipoib && now.ipoib->mode != before.mode) change.mode = before.mode;
    if (now.ipoib && now.ipoib->umcast != before.umcast) change.umcast = before.umcast;
    if (now.mtu != before.mtu || change.mode) change.mtu = before.mtu;
    if (before.up) change.up = true;
    return change;
  }

  Status verify() {
    const std::optional<Guids> shown = TRY(own_guids(kernel_, kHost, record_.device));
    const Guids before = shown_before();
    if (!shown || !same(*shown, before)) {
      return Error(Code::internal, record_.device.text() + " shows the port GUID " +
                                       (shown ? shown->port.text() : std::string("of no device")) +
                                       " instead of " + before.port.text());
    }
    return ok();
  }

  Kernel& kernel_;
  const Record& record_;
  const Found& found_;
  Function function_;
  Deadline deadline_;
  std::optional<Namespace> pod_;  // nothing: its namespace is gone
};

}  // namespace

Status restore(Kernel& kernel, const Record& record, Deadline deadline) {
  const std::optional<Function> function = TRY(kernel.function(record.device));
  // Taken out of the machine, or a PF, of which nothing was changed.
  if (!function || !function->pf) return ok();
  return Restoration(kernel, record, *function, deadline)
      .run()
      .during("restore " + record.device.text());
}

Status disown(Kernel& kernel, const ib::PciAddress& device, Deadline deadline) {
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
                 device.text() + " still shows the last pod's GUID after it was bound anew");
  return ok();
}

Status fetch_from(Kernel& kernel, const Namespace& where, const ib::PciAddress& device,
                  Deadline deadline) {
  const std::optional<Function> function = TRY(kernel.function(device));
  if (!function || !function->pf) return ok();
  Record nothing;
  nothing.device = device;
  return Restoration(kernel, nothing, *function, deadline).fetch_only(where);
}

Result<bool> is_live(Kernel& kernel, const Record& record, const std::string& boot_id) {
  if (record.boot_id != boot_id) return false;
  const std::optional<Namespace> now = TRY(kernel.find_namespace(record.netns.path));
  return now == record.netns;
}

}  // namespace ibpod::node
