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

// Gives a device the name it had. `rename` is tried directly, then from the parking name while the
// other holder may still move on.
template <typename Rename>
Status take_name(Kernel& kernel, const ib::PciAddress& device, const std::string& wanted,
                 Deadline deadline, Rename rename) {
  const auto taken = [](const Status& status) {
    return !status && status.error().code() == Code::exists;
  };
  Status renamed = rename(wanted);
  if (!taken(renamed)) return renamed;
  TRY(rename(parking_name(device)));
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

  Status run() {
    TRY(restore_policy());
    if (is_vfio(found_.driver)) return restore_told();
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
    TRY(restore_netdev());
    return verify();
  }

  Status fetch_only(const Namespace& where) {
    pod_ = where;
    return fetch();
  }

 private:
  Status find_pod() {
    std::optional<Namespace> now = TRY(kernel_.find_namespace(record_.netns.path));
    if (now == record_.netns) pod_ = std::move(now);
    return ok();
  }

  Status restore_policy() {
    if (!found_.policy) return ok();
    const nl::VfSettings now = TRY(kernel_.vf_settings(function_));
    return now.policy == *found_.policy ? ok() : kernel_.set_vf_policy(function_, *found_.policy);
  }

  // What the PF should have been told: what it had been; the kernel takes no zero, so all-ones for
  // none.
  Guids told_before() const {
    const Guids before =
        found_.told && !found_.told->none() ? *found_.told : found_.guids.value_or(Guids{});
    return before.none() ? Guids{ib::kNoGuid, ib::kNoGuid} : before;
  }

  Status restore_told() {
    if (!record_.wanted.guids) return ok();  // nobody told it anything
    const Result<nl::VfSettings> now = kernel_.vf_settings(function_);
    if (!now && now.error().code() != Code::unsupported) return now.error();
    if (now && same(Guids{now->node_guid, now->port_guid}, told_before())) return ok();
    return kernel_.set_vf_guids(function_, told_before().node, told_before().port);
  }

  // Whether moving is not enough: other GUIDs, another driver, or devices that are in neither
  // namespace (the pod may have moved them on, or its namespace lives on without a path).
  Result<bool> needs_rebind() {
    if (function_.driver != found_.driver) return true;
    std::optional<Guids> shown;
    const bool visible = TRY(wait_until(kernel_, deadline_.at_most(kAppearance),
                                        [&]() -> Result<bool> { return look(shown); }));
    return !visible || !same(*shown, found_.guids.value_or(Guids{}));
  }

  // True when every device of the function is at home or in the pod.
  Result<bool> look(std::optional<Guids>& shown) {
    std::vector<RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, record_.device));
    std::optional<Netdev> netdev = TRY(own_netdev(kernel_, kHost, record_.device));
    if (pod_) {
      const std::vector<RdmaDevice> inside = TRY(kernel_.rdma_devices(*pod_, record_.device));
      for (const RdmaDevice& device : inside) {
        const auto same_name = [&](const RdmaDevice& other) { return other.name == device.name; };
        // In shared mode both list the same ones.
        if (std::none_of(devices.begin(), devices.end(), same_name)) devices.push_back(device);
      }
      if (!netdev) netdev = TRY(own_netdev(kernel_, *pod_, record_.device));
    }
    if (!devices.empty()) shown = Guids{devices.front().node_guid, devices.front().port_guid};
    return netdev && devices.size() >= std::max<size_t>(1, found_.rdma_devices.size());
  }

  // Fetches every device home, wherever it is, and makes the VF read its GUIDs anew.
  Status rebind() {
    TRY(kernel_.set_driver(record_.device, std::nullopt));
    const Guids guids = found_.guids.value_or(Guids{});
    const Guids given_back = guids.none() ? Guids{ib::kNoGuid, ib::kNoGuid} : guids;
    if (record_.wanted.guids)
      TRY(kernel_.set_vf_guids(function_, given_back.node, given_back.port));
    TRY(kernel_.set_driver(record_.device, found_.driver));
    return await_home();
  }

  Status fetch() {
    if (!pod_) return ok();
    const nl::RdmaNetnsMode mode = TRY(kernel_.rdma_netns_mode());
    const std::vector<RdmaDevice> inside = TRY(kernel_.rdma_devices(*pod_, record_.device));
    if (mode == nl::RdmaNetnsMode::exclusive && !inside.empty()) {
      // The interface needs no fetching of its own: this makes the kernel create it anew, at home.
      for (const RdmaDevice& device : inside) TRY(kernel_.move_rdma(*pod_, device.name, kHost));
      TRY(await_home());
    }
    const std::optional<Netdev> netdev = TRY(own_netdev(kernel_, *pod_, record_.device));
    return netdev ? fetch_netdev(*netdev) : ok();
  }

  Status fetch_netdev(const Netdev& netdev) {
    TRY(remove_children(*pod_));
    const std::string name = found_.netdev ? found_.netdev->name : parking_name(record_.device);
    const std::optional<Netdev> holder = TRY(kernel_.find_netdev(kHost, name));
    Status moved = kernel_.move_netdev(*pod_, netdev.index, kHost,
                                       holder ? parking_name(record_.device) : name);
    // Taken in this very moment: it may have come home all the same, under another name.
    if (!moved && moved.error().code() != Code::exists) return moved;
    return await_home();
  }

  Status await_home() {
    const bool home = TRY(wait_until(kernel_, deadline_, [&]() -> Result<bool> {
      const std::vector<RdmaDevice> devices = TRY(kernel_.rdma_devices(kHost, record_.device));
      const std::optional<Netdev> netdev = TRY(own_netdev(kernel_, kHost, record_.device));
      return netdev && devices.size() >= std::max<size_t>(1, found_.rdma_devices.size());
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

  Status restore_netdev() {
    if (!found_.netdev) return ok();
    std::optional<Netdev> now = TRY(own_netdev(kernel_, kHost, record_.device));
    if (!now)
      return Error(Code::unavailable,
                   "the interface of " + record_.device.text() + " has disappeared");
    if (now->name != found_.netdev->name) {
      TRY(take_name(kernel_, record_.device, found_.netdev->name, deadline_,
                    [&](const std::string& name) { return rename_netdev(*now, name); }));
    }
    const NetdevChange change = difference(*now);
    // Mode and address change only while it is down.
    if (now->up && (change.mode || change.umcast || change.address || !found_.netdev->up)) {
      TRY(kernel_.change_netdev(kHost, now->index, {.up = false}));
    }
    return kernel_.change_netdev(kHost, now->index, change);
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

  NetdevChange difference(const Netdev& now) const {
    const FoundNetdev& before = *found_.netdev;
    NetdevChange change;
    // What udev has added meanwhile stays; what was there and is gone comes back.
    std::vector<std::string> altnames = now.altnames;
    for (const std::string& lost : without(before.altnames, now.altnames)) altnames.push_back(lost);
    if (altnames != now.altnames) change.altnames = altnames;
    if (now.ipoib && now.ipoib->mode != before.mode) change.mode = before.mode;
    if (now.ipoib && now.ipoib->umcast != before.umcast) change.umcast = before.umcast;
    if (now.mtu != before.mtu || change.mode) change.mtu = before.mtu;
    if (const auto address = address_before(now)) change.address = address;
    if (before.up) change.up = true;
    return change;
  }

  // The first four bytes are flags and QPN, the device's own; the rest names the port.
  std::optional<nl::HardwareAddress> address_before(const Netdev& now) const {
    const nl::HardwareAddress& before = found_.netdev->address;
    if (now.address.size() != before.size() || before.size() < 20) return std::nullopt;
    if (std::equal(now.address.begin() + 4, now.address.end(), before.begin() + 4))
      return std::nullopt;
    const std::optional<ib::Guid> port = nl::guid_of(before);
    if (!port || port->none() || port != found_.guids.value_or(Guids{}).port) return std::nullopt;
    nl::HardwareAddress address = before;
    std::copy_n(now.address.begin(), 4, address.begin());
    return address;
  }

  Status verify() {
    const std::optional<Guids> shown = TRY(own_guids(kernel_, kHost, record_.device));
    const Guids before = found_.guids.value_or(Guids{});
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
