#include "lib/node/vf.h"

#include "lib/base/join.h"
#include "lib/node/names.h"

#include <algorithm>

#include <net/if_arp.h>

namespace ibpod::node {
namespace {

Error unusable(const Function& function, const std::string& why) {
  return Error(Code::unavailable, function.address.text() + " " + why);
}

OriginalNetdev as_found(const Netdev& netdev) {
  OriginalNetdev found;
  found.name = netdev.name;
  found.altnames = netdev.altnames;
  found.mtu = netdev.mtu;
  found.up = netdev.up;
  found.address = netdev.address;
  if (netdev.ipoib) found.mode = netdev.ipoib->mode;
  if (netdev.ipoib) found.umcast = netdev.ipoib->umcast;
  return found;
}

Status observe_netdevs(Kernel& kernel, const Function& function, Original& found) {
  const std::vector<Netdev> netdevs = TRY(kernel.netdevs(kHost, function.address));
  std::vector<std::string> children;
  for (const Netdev& netdev : netdevs) {
    if (netdev.parent) {
      children.push_back(netdev.name);
      continue;
    }
    if (netdev.type != ARPHRD_INFINIBAND) {
      return Error(Code::invalid, "deviceID " + function.address.text() +
                                      " is not an InfiniBand function: its interface " +
                                      netdev.name + " is not an InfiniBand interface");
    }
    if (found.netdev) {
      found.other_netdevs.push_back(as_found(netdev));
    } else {
      found.netdev = as_found(netdev);
    }
  }
  if (!found.netdev) {
    return unusable(function,
                    "has no IPoIB interface in the host's namespace: another namespace has it, or "
                    "ib_ipoib is not loaded");
  }
  found.netdev->children = std::move(children);
  return ok();
}

Status observe_settings(Kernel& kernel, const Function& function, const Spec& spec,
                        Original& found) {
  const Result<nl::VfSettings> settings = kernel.vf_settings(function);
  // Old kernels cannot say it of a PF with many VFs. What is unknown is put back by what the VF
  // shows.
  if (!settings && settings.error().code() == Code::unsupported) return ok();
  // The PF is not configured, so it need not be asked.
  if (!settings && !spec.guids && !spec.policy) return ok();
  const nl::VfSettings told = TRY(settings);
  found.pf_configured = Guids{told.node_guid, told.port_guid};
  found.policy = told.policy;
  return ok();
}

// Waits until the function's devices are back in the host's namespace and show the GUIDs.
Status await_guids(Kernel& kernel, const Record& record, const Guids& wanted, Deadline deadline) {
  std::optional<Guids> shown;
  const bool there = TRY(wait_until(kernel, deadline, [&]() -> Result<bool> {
    const std::vector<RdmaDevice> devices = TRY(kernel.rdma_devices(kHost, record.device));
    const std::optional<Netdev> netdev = TRY(own_netdev(kernel, kHost, record.device));
    shown = TRY(own_guids(kernel, kHost, record.device));
    return netdev && shown && devices.size() == record.original.rdma_devices.size() &&
           same(*shown, wanted);
  }));
  if (there) return ok();
  const std::string instead =
      shown ? "it shows the GUIDs " + shown->node.text() + " and " + shown->port.text()
            : "it has not come back";
  return Error(Code::unavailable, record.device.text() + " was rebound to apply the GUID " +
                                      wanted.port.text() + ", but " + instead);
}

bool takes_other_guids(const Record& record) {
  return record.spec.guids && record.spec.guids != record.original.guids;
}

// The only witness of a VF that a virtual machine drives: its own driver will read them.
Status verify_pf_guids(Kernel& kernel, const Function& function, const Guids& wanted) {
  const Result<nl::VfSettings> now = kernel.vf_settings(function);
  if (!now && now.error().code() == Code::unsupported) return ok();
  if (!now) return now.error();
  if (Guids{now->node_guid, now->port_guid} == wanted) return ok();
  return Error(Code::internal, "the PF was set to the GUID " + wanted.port.text() + " for " +
                                   function.address.text() + ", but reports " +
                                   now->node_guid.text() + " and " + now->port_guid.text());
}

Status set_guids(Kernel& kernel, const Record& record, const Function& function,
                 Deadline deadline) {
  const std::optional<Guids>& wanted = record.spec.guids;
  if (!takes_other_guids(record)) return ok();
  TRY(kernel.set_vf_guids(function, wanted->node, wanted->port));
  if (is_vfio(record.original.driver)) return verify_pf_guids(kernel, function, *wanted);
  TRY(kernel.set_driver(record.device, std::nullopt));
  TRY(kernel.set_driver(record.device, record.original.driver));
  TRY(await_guids(kernel, record, *wanted, deadline));
  return keep_rdma_names(kernel, record);
}

// Sets what the PF's driver keeps of the VF: link policy and GUIDs.
Status configure_pf(Kernel& kernel, const Record& record, Deadline deadline) {
  const bool other_policy = record.spec.policy && record.spec.policy != record.original.policy;
  if (!other_policy && !takes_other_guids(record)) return ok();
  const std::optional<Function> function = TRY(kernel.function(record.device));
  if (!function) return Error(Code::not_found, record.device.text() + " has disappeared");
  if (other_policy) TRY(kernel.set_vf_policy(*function, *record.spec.policy));
  return set_guids(kernel, record, *function, deadline);
}

// The interface that the pod gets, and whether the pod's namespace has it.
struct FoundNetdev {
  std::optional<Netdev> netdev;
  bool inside = false;
};

Result<FoundNetdev> find_netdev(Kernel& kernel, const Record& record) {
  std::optional<Netdev> inside = TRY(own_netdev(kernel, record.netns, record.device));
  if (inside) return FoundNetdev{std::move(inside), true};
  std::optional<Netdev> outside = TRY(own_netdev(kernel, kHost, record.device));
  return FoundNetdev{std::move(outside), false};
}

// The RDMA devices go first: moving one makes the kernel create its IPoIB interface again, which is
// the answer.
Result<FoundNetdev> move_rdma_devices(Kernel& kernel, const Record& record, Deadline deadline) {
  const std::vector<std::string> devices = TRY(kernel.rdma_names(kHost, record.device));
  // Never fewer than were found: any process on the host could use one that stayed.
  if (devices.size() != record.original.rdma_devices.size()) {
    return Error(Code::unavailable, std::to_string(devices.size()) + " of " +
                                        std::to_string(record.original.rdma_devices.size()) +
                                        " RDMA devices of " + record.device.text() +
                                        " are in the host's namespace");
  }
  for (const std::string& device : devices) TRY(kernel.move_rdma(kHost, device, record.netns));
  FoundNetdev found;
  const bool there = TRY(wait_until(kernel, deadline, [&]() -> Result<bool> {
    const std::vector<std::string> moved = TRY(kernel.rdma_names(record.netns, record.device));
    found = TRY(find_netdev(kernel, record));
    return moved.size() == devices.size() && found.netdev;
  }));
  if (there) return found;
  return Error(Code::unavailable,
               "the IPoIB interface of " + record.device.text() +
                   " has not come back after its RDMA device moved into the pod");
}

Status move_netdev_to_pod(Kernel& kernel, const Record& record, FoundNetdev found) {
  const std::string& name = record.spec.ifname;
  const bool inside = found.inside;
  std::optional<Netdev> netdev = std::move(found.netdev);
  if (!netdev)
    return Error(Code::unavailable,
                 "the interface of " + record.device.text() + " has disappeared");
  // A name of the host's has no meaning in the pod, and would clash with another VF's there.
  if (!netdev->altnames.empty()) {
    TRY(kernel.change_netdev(inside ? record.netns : kHost, netdev->index,
                             {.altnames = std::vector<std::string>()}));
  }
  NetdevChange change{.mtu = record.spec.mtu, .up = true};
  if (inside) {
    change.name = name;
  } else {
    TRY(kernel.move_netdev(kHost, netdev->index, record.netns, name));
    netdev = TRY(kernel.find_netdev(record.netns, name));
    if (!netdev) return Error(Code::unavailable, name + " has disappeared from the pod");
  }
  return kernel.change_netdev(record.netns, netdev->index, change);
}

}  // namespace

Result<std::optional<Netdev>> own_netdev(Kernel& kernel, const Namespace& where,
                                         const ib::PciAddress& function) {
  std::vector<Netdev> netdevs = TRY(kernel.own_netdevs(where, function));
  if (netdevs.empty()) return std::optional<Netdev>();
  return std::optional<Netdev>(std::move(netdevs.front()));
}

Result<std::optional<Guids>> own_guids(Kernel& kernel, const Namespace& where,
                                       const ib::PciAddress& function) {
  const std::vector<RdmaDevice> devices = TRY(kernel.rdma_devices(where, function));
  if (devices.empty()) return std::optional<Guids>();
  return std::optional<Guids>(Guids{devices.front().node_guid, devices.front().port_guid});
}

Result<Original> observe(Kernel& kernel, const Function& function, const Spec& spec) {
  Original found;
  if (!function.driver)
    return unusable(
        function, "is not bound to a driver: bind it to its own driver (mlx5_core) or to vfio-pci");
  found.driver = *function.driver;
  if (function.pf) TRY(observe_settings(kernel, function, spec, found));
  if (is_vfio(found.driver)) return found;
  const std::vector<RdmaDevice> devices = TRY(kernel.rdma_devices(kHost, function.address));
  if (devices.empty()) {
    return unusable(function,
                    "has no RDMA device in the host's namespace: another namespace has it, or its "
                    "driver did not create one");
  }
  for (const RdmaDevice& device : devices) found.rdma_devices.push_back(device.name);
  found.guids = Guids{devices.front().node_guid, devices.front().port_guid};
  TRY(observe_netdevs(kernel, function, found));
  return found;
}

Status check_children(const Record& record) {
  const bool recreated = record.spec.isolation || takes_other_guids(record);
  if (!record.original.netdev || record.original.netdev->children.empty() || !recreated)
    return ok();
  const std::string names = join(record.original.netdev->children, ", ");
  return Error(Code::busy, record.device.text() + " has IPoIB child interfaces (" + names +
                               ") that the attach would delete; remove them first");
}

namespace {

Status give_devices(Kernel& kernel, const Record& record, Deadline deadline) {
  TRY(configure_pf(kernel, record, deadline));
  if (is_vfio(record.original.driver)) return ok();
  const FoundNetdev found = TRY(record.spec.isolation ? move_rdma_devices(kernel, record, deadline)
                                                      : find_netdev(kernel, record));
  return move_netdev_to_pod(kernel, record, found);
}

}  // namespace

Status move_to_pod(Kernel& kernel, const Record& record, Deadline deadline) {
  Status given = give_devices(kernel, record, deadline);
  if (given || given.error().code() != Code::unavailable) return given;
  // Its devices are missing, or all of it.
  const std::optional<Function> function = TRY(kernel.function(record.device));
  if (function) return given;
  return Error(Code::not_found, record.device.text() + " has disappeared");
}

}  // namespace ibpod::node
