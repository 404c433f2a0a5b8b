#include "lib/node/listing.h"

#include "lib/base/run_on_thread.h"
#include "lib/netns/netns.h"
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace ibpod::node {
namespace {

// With LinuxKernel's pauses a second at most. It takes many only where events that have nothing to
// do with the function end the pauses early.
constexpr int kRounds = 40;

using Names = std::vector<std::string>;

// Nothing: one of the names is there no more.
template <typename Item>
using Attempt = Result<std::optional<std::vector<Item>>>;

template <typename Item>
Result<std::vector<Item>> list(const std::string& what,
                               const std::function<Result<Names>()>& names_now,
                               const std::function<Attempt<Item>(const Names&)>& read,
                               const Pause& pause) {
  for (int round = 0; round < kRounds; ++round) {
    const Names names = TRY(names_now());
    // A list leaves an entry out that is renamed meanwhile, but only if it has another one.
    if (names.empty()) return std::vector<Item>();
    std::optional<std::vector<Item>> found = TRY(read(names));
    // A name may have gone over to another device meanwhile: what was read would be that one's.
    const Names still = TRY(names_now());
    if (found && names == still) return *std::move(found);
    TRY(pause());
  }
  return Error(Code::unavailable, "the " + what + " change their names while they are listed");
}

Result<RdmaDevice> read_rdma_device(const sysfs::Sysfs& sysfs, const std::string& name) {
  RdmaDevice device{.name = name};
  device.node_guid = TRY(sysfs::node_guid(sysfs, name));
  device.port_guid = TRY(sysfs::port_guid(sysfs, name, 1));
  return device;
}

Attempt<RdmaDevice> read_rdma_devices(const sysfs::Sysfs& sysfs, const Names& names) {
  std::vector<RdmaDevice> found;
  for (const std::string& name : names) {
    const Result<RdmaDevice> device = read_rdma_device(sysfs, name);
    if (!device && device.error().code() == Code::not_found)
      return std::optional<std::vector<RdmaDevice>>();
    if (!device) return device.error();
    found.push_back(*device);
  }
  return std::optional(found);
}

std::vector<Netdev> named(const std::vector<Netdev>& all, const Names& names) {
  std::vector<Netdev> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const Netdev& netdev) {
    return std::find(names.begin(), names.end(), netdev.name) != names.end();
  });
  return found;
}

// Children hang on no device in sysfs: only what they say of their parent tells whose they are.
std::vector<Netdev> with_children(std::vector<Netdev> parents, const std::vector<Netdev>& all) {
  std::vector<Netdev> family = parents;
  std::copy_if(all.begin(), all.end(), std::back_inserter(family), [&](const Netdev& netdev) {
    return std::any_of(parents.begin(), parents.end(),
                       [&](const Netdev& parent) { return nl::is_ipoib_child(netdev, parent); });
  });
  std::sort(family.begin(), family.end(),
            [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  return family;
}

Attempt<Netdev> read_netdevs(nl::Socket& route, const Names& names) {
  const std::vector<Netdev> all = TRY(nl::links(route));
  std::vector<Netdev> found = named(all, names);
  if (found.size() != names.size()) return std::optional<std::vector<Netdev>>();
  return std::optional(with_children(std::move(found), all));
}

// Each by its name: all links of the host are many.
Attempt<Netdev> read_own_netdevs(nl::Socket& route, const Names& names) {
  std::vector<Netdev> found;
  for (const std::string& name : names) {
    std::optional<Netdev> netdev = TRY(nl::find_link(route, name));
    // An altname of another one answers, too.
    if (!netdev || netdev->name != name) return std::optional<std::vector<Netdev>>();
    if (!netdev->parent) found.push_back(*std::move(netdev));
  }
  std::sort(found.begin(), found.end(),
            [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  return std::optional(std::move(found));
}

}  // namespace

Result<std::vector<RdmaDevice>> list_rdma_devices(const sysfs::Sysfs& sysfs,
                                                  const ib::PciAddress& function,
                                                  const Pause& pause) {
  return list<RdmaDevice>(
      "RDMA devices of " + function.text(), [&] { return sysfs::rdma_devices(sysfs, function); },
      [&](const Names& names) { return read_rdma_devices(sysfs, names); }, pause);
}

Result<std::vector<Netdev>> list_netdevs(const sysfs::Sysfs& sysfs, nl::Socket& route,
                                         const ib::PciAddress& function, const Pause& pause) {
  return list<Netdev>(
      "interfaces of " + function.text(), [&] { return sysfs::netdevs(sysfs, function); },
      [&](const Names& names) { return read_netdevs(route, names); }, pause);
}

Result<std::vector<Netdev>> list_own_netdevs(const sysfs::Sysfs& sysfs, nl::Socket& route,
                                             const ib::PciAddress& function, const Pause& pause) {
  return list<Netdev>(
      "interfaces of " + function.text(), [&] { return sysfs::netdevs(sysfs, function); },
      [&](const Names& names) { return read_own_netdevs(route, names); }, pause);
}

Result<sysfs::Sysfs> open_pod_sysfs(const Namespace& pod, const Path& mount_namespace) {
  Result<netns::NetNs> opened = Error(Code::internal, "not opened");
  TRY(run_in_mount_namespace(mount_namespace, "open a pod's network namespace", [&] {
    opened = netns::NetNs::open(pod.path);
    return ok();
  }));
  const netns::NetNs netns = TRY(std::move(opened));
  const netns::Identity identity = TRY(netns.identity());
  if (identity == pod.identity) return sysfs::Sysfs::of_netns(netns.fd());
  return Error(Code::not_found,
               pod.path.string() + ": the namespace is gone, and another one has its path");
}

}  // namespace ibpod::node
