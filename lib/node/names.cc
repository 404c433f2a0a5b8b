#include "lib/node/names.h"

#include "lib/node/vf.h"

#include <algorithm>
#include <vector>

namespace ibpod::node {
namespace {

// How long to wait for a name that another VF on its way home may hold for a moment.
constexpr Duration kNameTimeout{5000};

struct RenameContext {
  Kernel& kernel;
  const Record& record;
  Deadline deadline;
};

// Gives a device the name it had. `rename` is tried directly, then from the parking name, once
// `is_free` says that the other holder has moved on.
template <typename Rename, typename IsFree>
Status take_name(const RenameContext& work, const std::string& wanted, Rename rename,
                 IsFree is_free) {
  Status renamed = rename(wanted);
  if (!is_name_taken(renamed)) return renamed;
  const Status parked = rename(temporary_name(work.record.device));
  // A twin of the same function may be there: then it keeps the name it has.
  if (!parked && !is_name_taken(parked)) return parked;
  TRY(wait_until(work.kernel, work.deadline.at_most(kNameTimeout), [&]() -> Result<bool> {
    const bool free = TRY(is_free());
    if (free) renamed = rename(wanted);
    return !is_name_taken(renamed);
  }));
  return is_name_taken(renamed) ? ok() : renamed;
}

std::vector<std::string> without(const std::vector<std::string>& all,
                                 const std::vector<std::string>& those) {
  std::vector<std::string> rest;
  for (const std::string& one : all) {
    if (std::find(those.begin(), those.end(), one) == those.end()) rest.push_back(one);
  }
  return rest;
}

struct NameChange {
  std::string now;
  std::string before;
};

// The RDMA devices at home that lack their names of before. Nothing tells which of them had which.
Result<std::vector<NameChange>> name_changes(Kernel& kernel, const Record& record) {
  const std::vector<RdmaDevice> devices = TRY(kernel.rdma_devices(kHost, record.device));
  std::vector<std::string> names;
  for (const RdmaDevice& device : devices) names.push_back(device.name);
  const std::vector<std::string> missing = without(record.original.rdma_devices, names);
  const std::vector<std::string> strange = without(names, record.original.rdma_devices);
  std::vector<NameChange> all;
  for (size_t i = 0; i < std::min(missing.size(), strange.size()); ++i) {
    all.push_back({strange[i], missing[i]});
  }
  return all;
}

Status restore_rdma_names(const RenameContext& work) {
  std::vector<NameChange> devices = TRY(name_changes(work.kernel, work.record));
  for (NameChange& device : devices) {
    const auto rename = [&](const std::string& wanted) {
      Status renamed = work.kernel.rename_rdma(kHost, device.now, wanted);
      if (renamed) device.now = wanted;
      return renamed;
    };
    // The present holder of the name cannot be looked up.
    TRY(take_name(work, device.before, rename, [] { return Result<bool>(true); }));
  }
  return ok();
}

// Older kernels rename no interface that is up; and an altname equal to the wanted name is in its
// way.
Status rename_netdev(Kernel& kernel, const Netdev& now, const std::string& name) {
  NetdevChange change{.name = name};
  if (now.up) change.up = false;
  if (std::find(now.altnames.begin(), now.altnames.end(), name) != now.altnames.end()) {
    change.altnames = without(now.altnames, {name});
  }
  return kernel.change_netdev(kHost, now.index, change);
}

Result<Netdev> find_again(const RenameContext& work, IfIndex index) {
  const std::vector<Netdev> netdevs = TRY(work.kernel.own_netdevs(kHost, work.record.device));
  for (const Netdev& netdev : netdevs) {
    if (netdev.index == index) return netdev;
  }
  return Error(Code::unavailable,
               "the interface of " + work.record.device.text() + " has disappeared");
}

// Exactly the altnames of before: those that a pod has added go, and udev gives the same ones
// again. If one of them is taken (udev may add it at this moment), it is not an error.
Status restore_altnames(Kernel& kernel, const OriginalNetdev& before, const Netdev& now) {
  const std::vector<std::string> altnames = without(before.altnames, {now.name});
  if (altnames == now.altnames) return ok();
  Status changed = kernel.change_netdev(kHost, now.index, {.altnames = altnames});
  return is_name_taken(changed) ? ok() : changed;
}

// Not the hardware address: no VF's interface takes one, so that no pod can have changed it.
NetdevChange difference(const OriginalNetdev& before, const Netdev& now) {
  NetdevChange change;
  if (now.ipoib && now.ipoib->mode != before.mode) change.mode = before.mode;
  if (now.ipoib && now.ipoib->umcast != before.umcast) change.umcast = before.umcast;
  if (now.mtu != before.mtu || change.mode) change.mtu = before.mtu;
  if (before.up) change.up = true;
  return change;
}

Status restore_netdev(const RenameContext& work, const OriginalNetdev& before, Netdev now) {
  if (now.name != before.name) {
    const auto rename = [&](const std::string& name) {
      return rename_netdev(work.kernel, now, name);
    };
    TRY(take_name(work, before.name, rename, [&]() -> Result<bool> {
      const std::optional<Netdev> holder = TRY(work.kernel.find_netdev(kHost, before.name));
      return !holder;
    }));
    now = TRY(find_again(work, now.index));
  }
  TRY(restore_altnames(work.kernel, before, now));
  const NetdevChange change = difference(before, now);
  // The mode changes only while it is down.
  if (now.up && (change.mode || change.umcast || !before.up)) {
    TRY(work.kernel.change_netdev(kHost, now.index, {.up = false}));
  }
  return work.kernel.change_netdev(kHost, now.index, change);
}

std::vector<Netdev>::iterator first_renamed(std::vector<Netdev>& now,
                                            const std::vector<OriginalNetdev>& before) {
  const auto renamed = std::find_if(now.begin(), now.end(), [&](const Netdev& candidate) {
    return std::none_of(before.begin(), before.end(), [&](const OriginalNetdev& netdev) {
      return netdev.name == candidate.name;
    });
  });
  return renamed == now.end() ? now.begin() : renamed;
}

// An interface that still has a name of before is the same one; the kernel has renamed the others.
Status restore_netdevs(const RenameContext& work) {
  if (!work.record.original.netdev) return ok();
  std::vector<OriginalNetdev> before = work.record.original.other_netdevs;
  before.insert(before.begin(), *work.record.original.netdev);
  std::vector<Netdev> now = TRY(work.kernel.own_netdevs(kHost, work.record.device));
  for (const OriginalNetdev& netdev : before) {
    if (now.empty()) {
      return Error(Code::unavailable,
                   "the interface of " + work.record.device.text() + " has disappeared");
    }
    const auto same = std::find_if(now.begin(), now.end(), [&](const Netdev& candidate) {
      return candidate.name == netdev.name;
    });
    const auto chosen = same == now.end() ? first_renamed(now, before) : same;
    TRY(restore_netdev(work, netdev, *chosen));
    now.erase(chosen);
  }
  return ok();
}

}  // namespace

std::string temporary_name(const ib::PciAddress& device) {
  std::string name = "vf";
  for (const char c : device.text()) {
    if (c != ':' && c != '.') name += c;
  }
  return name;
}

bool is_name_taken(const Status& status) {
  return !status && status.error().code() == Code::exists;
}

Status keep_rdma_names(Kernel& kernel, const Record& record) {
  const std::vector<NameChange> devices = TRY(name_changes(kernel, record));
  for (const NameChange& device : devices) {
    Status renamed = kernel.rename_rdma(kHost, device.now, device.before);
    if (!renamed && !is_name_taken(renamed)) return renamed;
  }
  return ok();
}

Status restore_names(Kernel& kernel, const Record& record, Deadline deadline) {
  const RenameContext work{kernel, record, deadline};
  TRY(restore_rdma_names(work));
  return restore_netdevs(work);
}

}  // namespace ibpod::node
