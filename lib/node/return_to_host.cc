#include "lib/node/return_to_host.h"

#include "lib/node/names.h"
#include "lib/node/queue_pair.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::node {
namespace {

size_t rdma_devices_of(const Found& found) {
  return std::max<size_t>(1, found.rdma_devices.size());
}
size_t netdevs_of(const Found& found) { return 1 + found.other_netdevs.size(); }

// Since 7.x names count in each namespace for itself: at home somebody may have this one by now.
Status fetch_rdma(const Trip& trip, const std::string& name) {
  Status moved = trip.kernel.move_rdma(*trip.pod, name, kHost);
  if (!taken(moved)) return moved;
  const std::string parking = parking_name(trip.record.device);
  TRY(trip.kernel.rename_rdma(*trip.pod, name, parking));
  return trip.kernel.move_rdma(*trip.pod, parking, kHost);
}

Status fetch_netdev(const Trip& trip, const Netdev& netdev) {
  // The pod's altnames would clash with the host's names, and a pod could hold on to the VF so.
  if (!netdev.altnames.empty()) {
    TRY(trip.kernel.change_netdev(*trip.pod, netdev.index,
                                  {.altnames = std::vector<std::string>()}));
  }
  const std::string parking = parking_name(trip.record.device);
  std::string name = trip.record.found.netdev ? trip.record.found.netdev->name : parking;
  const std::optional<Netdev> holder = TRY(trip.kernel.find_netdev(kHost, name));
  if (holder) name = parking;
  Status moved = trip.kernel.move_netdev(*trip.pod, netdev.index, kHost, name);
  if (!taken(moved) || name == parking) return moved;
  // Taken in this very moment: it may have come home all the same, under another name.
  const std::vector<Netdev> inside = TRY(own_netdevs(trip.kernel, *trip.pod, trip.record.device));
  const bool stayed = std::any_of(inside.begin(), inside.end(),
                                  [&](const Netdev& other) { return other.index == netdev.index; });
  return stayed ? trip.kernel.move_netdev(*trip.pod, netdev.index, kHost, parking) : ok();
}

// Or may have.
Result<bool> has_children_anywhere(const Trip& trip, const std::vector<Netdev>& parents) {
  bool found = false;
  const auto look = [&](const Namespace& where) -> Result<bool> {
    const std::vector<Netdev> netdevs = TRY(trip.kernel.ipoib_netdevs(where));
    for (const Netdev& parent : parents) {
      found = found || std::any_of(netdevs.begin(), netdevs.end(), [&](const Netdev& netdev) {
                return nl::is_ipoib_child(netdev, parent);
              });
    }
    return found;
  };
  const std::optional<Error> gap = TRY(trip.kernel.each_namespace(trip.deadline, look));
  return found || gap;
}

}  // namespace

Result<bool> in_reach(const Trip& trip, std::optional<Guids>& shown) {
  std::vector<RdmaDevice> devices = TRY(trip.kernel.rdma_devices(kHost, trip.record.device));
  std::vector<Netdev> netdevs = TRY(own_netdevs(trip.kernel, kHost, trip.record.device));
  if (trip.pod) {
    const std::vector<RdmaDevice> inside =
        TRY(trip.kernel.rdma_devices(*trip.pod, trip.record.device));
    for (const RdmaDevice& device : inside) {
      const auto same_name = [&](const RdmaDevice& other) { return other.name == device.name; };
      // In shared mode both list the same ones.
      if (std::none_of(devices.begin(), devices.end(), same_name)) devices.push_back(device);
    }
    const std::vector<Netdev> moved = TRY(own_netdevs(trip.kernel, *trip.pod, trip.record.device));
    netdevs.insert(netdevs.end(), moved.begin(), moved.end());
  }
  if (!devices.empty()) shown = Guids{devices.front().node_guid, devices.front().port_guid};
  return netdevs.size() >= netdevs_of(trip.record.found) &&
         devices.size() >= rdma_devices_of(trip.record.found);
}

void unsettle(const Trip& trip) {
  if (trip.record.unsettled) return;
  trip.record.unsettled = true;
  (void)trip.write(trip.record);  // that the VF comes home matters more
}

Status fetch(const Trip& trip) {
  if (!trip.pod) return ok();
  const nl::RdmaNetnsMode mode = TRY(trip.kernel.rdma_netns_mode());
  const std::vector<RdmaDevice> inside =
      TRY(trip.kernel.rdma_devices(*trip.pod, trip.record.device));
  if (mode == nl::RdmaNetnsMode::exclusive && !inside.empty()) {
    // The interface needs no fetching of its own: this makes the kernel create it anew, at home.
    unsettle(trip);
    for (const RdmaDevice& device : inside) TRY(fetch_rdma(trip, device.name));
    TRY(await_home(trip));
  }
  std::vector<Netdev> netdevs = TRY(own_netdevs(trip.kernel, *trip.pod, trip.record.device));
  if (netdevs.empty()) return ok();
  TRY(remove_children(trip, *trip.pod));
  for (const Netdev& netdev : netdevs) TRY(fetch_netdev(trip, netdev));
  return await_home(trip);
}

Status await_home(const Trip& trip) {
  const bool home = TRY(wait_until(trip.kernel, trip.deadline, [&]() -> Result<bool> {
    const std::vector<RdmaDevice> devices =
        TRY(trip.kernel.rdma_devices(kHost, trip.record.device));
    const std::vector<Netdev> netdevs = TRY(own_netdevs(trip.kernel, kHost, trip.record.device));
    return netdevs.size() >= netdevs_of(trip.record.found) &&
           devices.size() >= rdma_devices_of(trip.record.found);
  }));
  if (home) return ok();
  return Error(Code::unavailable, "the devices of " + trip.record.device.text() +
                                      " have not come back to the host's namespace");
}

Result<bool> has_hidden_children(const Trip& trip) {
  const std::vector<Netdev> own = TRY(own_netdevs(trip.kernel, kHost, trip.record.device));
  std::vector<uint32_t> pairs = TRY(trip.kernel.ipoib_queue_pairs(trip.record.device));
  const bool told = std::all_of(
      own.begin(), own.end(), [&](const Netdev& netdev) { return has_queue_pair(pairs, netdev); });
  if (!told) return has_children_anywhere(trip, own);
  const std::vector<Netdev> seen = TRY(trip.kernel.netdevs(kHost, trip.record.device));
  return std::any_of(pairs.begin(), pairs.end(), [&](uint32_t pair) {
    return std::none_of(seen.begin(), seen.end(),
                        [&](const Netdev& netdev) { return queue_pair_of(netdev) == pair; });
  });
}

Status remove_children(const Trip& trip, const Namespace& where) {
  const std::vector<Netdev> netdevs = TRY(trip.kernel.netdevs(where, trip.record.device));
  const std::vector<std::string> before =
      trip.record.found.netdev ? trip.record.found.netdev->children : std::vector<std::string>();
  for (const Netdev& netdev : netdevs) {
    const bool known =
        where.is_host() && std::find(before.begin(), before.end(), netdev.name) != before.end();
    if (netdev.parent && !known) TRY(trip.kernel.remove_netdev(where, netdev.index));
  }
  return ok();
}

}  // namespace ibpod::node
