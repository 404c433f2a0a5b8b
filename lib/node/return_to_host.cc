#include "lib/node/return_to_host.h"

#include "lib/node/names.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::node {
namespace {

size_t rdma_devices_of(const Original& found) {
  return std::max<size_t>(1, found.rdma_devices.size());
}
size_t netdevs_of(const Original& found) { return 1 + found.other_netdevs.size(); }

// Since 7.x each namespace has its own names: a device at home may have this one by now.
Status return_rdma(const ReturnContext& context, const std::string& name) {
  Status moved = context.kernel.move_rdma(*context.pod, name, kHost);
  if (!is_name_taken(moved)) return moved;
  const std::string temporary = temporary_name(context.record.device);
  TRY(context.kernel.rename_rdma(*context.pod, name, temporary));
  return context.kernel.move_rdma(*context.pod, temporary, kHost);
}

Status return_netdev(const ReturnContext& context, const Netdev& netdev) {
  // The pod's altnames would clash with the host's names, and a pod could hold on to the VF so.
  if (!netdev.altnames.empty()) {
    TRY(context.kernel.change_netdev(*context.pod, netdev.index,
                                     {.altnames = std::vector<std::string>()}));
  }
  const std::string temporary = temporary_name(context.record.device);
  std::string name =
      context.record.original.netdev ? context.record.original.netdev->name : temporary;
  const std::optional<Netdev> holder = TRY(context.kernel.find_netdev(kHost, name));
  if (holder) name = temporary;
  Status moved = context.kernel.move_netdev(*context.pod, netdev.index, kHost, name);
  if (!is_name_taken(moved) || name == temporary) return moved;
  // Taken in this very moment: it may have come home all the same, under another name.
  const std::vector<Netdev> inside =
      TRY(context.kernel.own_netdevs(*context.pod, context.record.device));
  const bool stayed = std::any_of(inside.begin(), inside.end(),
                                  [&](const Netdev& other) { return other.index == netdev.index; });
  return stayed ? context.kernel.move_netdev(*context.pod, netdev.index, kHost, temporary) : ok();
}

}  // namespace

Result<bool> reachable(const ReturnContext& context, std::optional<Guids>& shown) {
  std::vector<RdmaDevice> devices = TRY(context.kernel.rdma_devices(kHost, context.record.device));
  std::vector<Netdev> netdevs = TRY(context.kernel.own_netdevs(kHost, context.record.device));
  if (context.pod) {
    const std::vector<RdmaDevice> inside =
        TRY(context.kernel.rdma_devices(*context.pod, context.record.device));
    for (const RdmaDevice& device : inside) {
      const auto same_name = [&](const RdmaDevice& other) { return other.name == device.name; };
      // In shared mode both list the same ones.
      if (std::none_of(devices.begin(), devices.end(), same_name)) devices.push_back(device);
    }
    const std::vector<Netdev> moved =
        TRY(context.kernel.own_netdevs(*context.pod, context.record.device));
    netdevs.insert(netdevs.end(), moved.begin(), moved.end());
  }
  if (!devices.empty()) shown = Guids{devices.front().node_guid, devices.front().port_guid};
  return netdevs.size() >= netdevs_of(context.record.original) &&
         devices.size() >= rdma_devices_of(context.record.original);
}

void mark_rebind_pending(const ReturnContext& context) {
  if (context.record.rebind_pending) return;
  context.record.rebind_pending = true;
  (void)context.write(context.record);  // that the VF comes home matters more
}

Status return_to_host(const ReturnContext& context) {
  if (!context.pod) return ok();
  const nl::RdmaNetnsMode mode = TRY(context.kernel.rdma_netns_mode());
  const std::vector<RdmaDevice> inside =
      TRY(context.kernel.rdma_devices(*context.pod, context.record.device));
  if (mode == nl::RdmaNetnsMode::exclusive && !inside.empty()) {
    // The interface needs no move of its own: this makes the kernel create it again, at home.
    mark_rebind_pending(context);
    for (const RdmaDevice& device : inside) TRY(return_rdma(context, device.name));
    TRY(await_home(context));
  }
  std::vector<Netdev> netdevs =
      TRY(context.kernel.own_netdevs(*context.pod, context.record.device));
  if (netdevs.empty()) return ok();
  TRY(remove_children(context, *context.pod));
  for (const Netdev& netdev : netdevs) TRY(return_netdev(context, netdev));
  return await_home(context);
}

Status await_home(const ReturnContext& context) {
  const bool home = TRY(wait_until(context.kernel, context.deadline, [&]() -> Result<bool> {
    const std::vector<RdmaDevice> devices =
        TRY(context.kernel.rdma_devices(kHost, context.record.device));
    const std::vector<Netdev> netdevs =
        TRY(context.kernel.own_netdevs(kHost, context.record.device));
    return netdevs.size() >= netdevs_of(context.record.original) &&
           devices.size() >= rdma_devices_of(context.record.original);
  }));
  if (home) return ok();
  return Error(Code::unavailable, "the devices of " + context.record.device.text() +
                                      " have not come back to the host's namespace");
}

Status remove_children(const ReturnContext& context, const Namespace& where) {
  const std::vector<Netdev> netdevs = TRY(context.kernel.netdevs(where, context.record.device));
  const std::vector<std::string> before = context.record.original.netdev
                                              ? context.record.original.netdev->children
                                              : std::vector<std::string>();
  for (const Netdev& netdev : netdevs) {
    const bool known =
        where.is_host() && std::find(before.begin(), before.end(), netdev.name) != before.end();
    if (netdev.parent && !known) TRY(context.kernel.remove_netdev(where, netdev.index));
  }
  return ok();
}

}  // namespace ibpod::node
