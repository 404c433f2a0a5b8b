#include "device-plugin/inventory.h"

#include "lib/sysfs/pci.h"
#include "lib/sysfs/topology.h"

#include <algorithm>
#include <map>

#include <net/if_arp.h>

namespace ibpod::device_plugin {
namespace {

using Links = std::map<std::string, const nl::Link*>;
using Holders = std::map<ib::PciAddress, Holder>;
using Names = std::set<std::string>;

// The facts of the PCI function itself, which every namespace sees, and its netdevs on the host.
Status read_function(const sysfs::Sysfs& sysfs, Device& device) {
  const ib::PciAddress& address = device.address;
  device.driver = TRY(sysfs::driver(sysfs, address));
  device.numa = TRY(sysfs::numa_node(sysfs, address));
  device.pcie_root = TRY(sysfs::pcie_root(sysfs, address));
  device.acpi_index = TRY(sysfs::acpi_index(sysfs, address));
  device.iommu_group = TRY(sysfs::iommu_group(sysfs, address));
  device.char_devices = TRY(sysfs::char_devices(sysfs, address));
  device.netdevs = TRY(sysfs::netdevs(sysfs, address));
  return ok();
}

void set_rdma(RdmaDevices reading, Device& device) {
  device.rdma = std::move(reading.devices);
  if (!reading.link_type.empty()) device.link_type = std::move(reading.link_type);
}

// In the namespaces that the records name.
Status read_rdma_in_pods(const InventoryDeps& deps, const Holder& holder, const Device* known,
                         Device& device) {
  for (const node::Namespace& pod : holder.namespaces) {
    const sysfs::Sysfs sysfs = TRY(deps.pod_sysfs(pod));
    RdmaDevices reading = TRY(read_rdma(sysfs, device, known, deps.tables));
    if (reading.devices.empty()) continue;
    set_rdma(std::move(reading), device);
    return ok();
  }
  return Error(Code::not_found, "they are in a namespace that no record names");
}

Status read_rdma_anywhere(const InventoryDeps& deps, const Holder* holder, const Device* known,
                          Device& device) {
  RdmaDevices reading = TRY(read_rdma(deps.sysfs, device, known, deps.tables));
  const bool elsewhere = reading.devices.empty() && !device.char_devices.empty();
  set_rdma(std::move(reading), device);
  if (!elsewhere) return ok();
  return read_rdma_in_pods(deps, holder == nullptr ? Holder() : *holder, known, device);
}

// False: it is gone.
bool read_device(const InventoryDeps& deps, const Holder* holder, const Device* known,
                 Device& device) {
  Status read = read_function(deps.sysfs, device);
  if (read) read = read_rdma_anywhere(deps, holder, known, device);
  if (!sysfs::exists(deps.sysfs, device.address)) return false;
  if (!read) device.rdma_error = read.error().text();
  return true;
}

// The function's own first interface: a port's representors come behind it.
const nl::Link* first_netdev(const Links& links, const Device& device) {
  const nl::Link* first = nullptr;
  for (const std::string& name : device.netdevs) {
    const auto link = links.find(name);
    if (link == links.end()) continue;
    if (first == nullptr || link->second->index < first->index) first = link->second;
  }
  return first;
}

std::string link_type_of(const nl::Link& link) {
  if (link.type == ARPHRD_INFINIBAND) return "infiniband";
  return link.type == ARPHRD_ETHER ? "ether" : "";
}

// IPoIB has carrier only in its partition: that says nothing of the port.
bool has_link(const Device& pf, const nl::Link* netdev) {
  if (pf.rdma.empty()) {
    return netdev == nullptr || netdev->type != ARPHRD_ETHER || !netdev->up || netdev->carrier;
  }
  return std::any_of(pf.rdma.begin(), pf.rdma.end(), [](const RdmaDevice& device) {
    return std::any_of(device.ports.begin(), device.ports.end(),
                       [](const ib::Port& port) { return port.state != ib::PortState::down; });
  });
}

// Derives the rest from a PF's own facts and the host's links.
void finish_pf(const Links& links, uint32_t& next_rail, Device& pf) {
  const nl::Link* const netdev = first_netdev(links, pf);
  if (netdev != nullptr) pf.pf_name = netdev->name;
  if (pf.pf_name.empty() && !pf.netdevs.empty()) pf.pf_name = pf.netdevs.front();
  if (pf.rdma.empty() && netdev != nullptr) pf.link_type = link_type_of(*netdev);
  if (pf.link_type == "infiniband") pf.rail = next_rail++;
  pf.pf_up = has_link(pf, netdev);
}

// A VF is a port behind its PF's: whatever driver it has, it is of the PF's kind.
void finish_vf(const Device& pf, Device& vf) {
  vf.pf_name = pf.pf_name;
  vf.pf_up = pf.pf_up;
  vf.rail = pf.rail;
  if (vf.rdma.empty()) vf.link_type = pf.link_type;
}

void finish(const node::HostNetwork& network, std::vector<Device>& devices) {
  Links links;
  for (const nl::Link& link : network.links) links.emplace(link.name, &link);
  const std::map<std::string, std::string> needed = needed_netdevs(network);
  std::map<ib::PciAddress, const Device*> pfs;
  uint32_t next_rail = 0;
  for (Device& device : devices) {
    if (!device.pf) {
      finish_pf(links, next_rail, device);
      pfs.emplace(device.address, &device);
    }
    for (const std::string& netdev : device.netdevs) {
      const auto use = needed.find(netdev);
      if (use != needed.end()) device.host_use = use->second;
    }
  }
  for (Device& device : devices) {
    const auto pf = device.pf ? pfs.find(*device.pf) : pfs.end();
    if (pf != pfs.end()) finish_vf(*pf->second, device);
  }
}

template <typename T>
const T* find(const std::map<ib::PciAddress, T>& all, const ib::PciAddress& address) {
  const auto found = all.find(address);
  return found == all.end() ? nullptr : &found->second;
}

std::vector<node::Namespace> namespaces_of(const Holders& holders, const ib::PciAddress& address) {
  const Holder* const holder = find(holders, address);
  return holder == nullptr ? std::vector<node::Namespace>() : holder->namespaces;
}

bool has_one_of(const Names& names, const Device& device) {
  const auto named = [&](const std::string& name) { return names.contains(name); };
  return std::any_of(device.netdevs.begin(), device.netdevs.end(), named);
}

bool has_rdma_of(const Names& names, const Device& device) {
  return std::any_of(device.rdma.begin(), device.rdma.end(),
                     [&](const RdmaDevice& rdma) { return names.contains(rdma.name); });
}

}  // namespace

// Names are resolved twice: a device that has just come is found in sysfs, one that has just gone
// among those that are known.
void Inventory::add_functions_by_name(const sysfs::Sysfs& sysfs, Addresses& named) const {
  for (const std::string& name : pending_.netdevs) {
    const auto function = sysfs::function_of_netdev(sysfs, name);
    if (function && *function) named.insert(**function);
  }
  for (const std::string& name : pending_.rdma_devices) {
    const auto function = sysfs::function_of_rdma_device(sysfs, name);
    if (function && *function) named.insert(**function);
  }
}

bool Inventory::needs_refresh(const Device& device, const Holders& holders) const {
  const auto namespaces = namespaces_of(holders, device.address);
  return !device.rdma_error.empty() || namespaces != namespaces_of(holders_, device.address) ||
         (pending_.ports && !namespaces.empty()) || has_one_of(pending_.netdevs, device) ||
         has_rdma_of(pending_.rdma_devices, device);
}

// In the order of their addresses, and from the beginning again.
std::vector<ib::PciAddress> Inventory::next_slice() const {
  std::vector<ib::PciAddress> turn;
  const size_t size = (devices_.size() + kReadsPerCycle - 1) / kReadsPerCycle;
  auto next = devices_.upper_bound(last_in_slice_);
  while (turn.size() < size) {
    if (next == devices_.end()) next = devices_.begin();
    turn.push_back(next->first);
    ++next;
  }
  return turn;
}

// A VF needs its PF; a PF that has other VFs than before has its own event.
void Inventory::add_slice(Addresses& stale) const {
  for (const ib::PciAddress& function : slice_) {
    stale.insert(function);
    const Device* const known = find(devices_, function);
    if (known != nullptr && known->pf) stale.insert(*known->pf);
  }
}

Inventory::Addresses Inventory::changed_functions(const sysfs::Sysfs& sysfs,
                                                  const Holders& holders) {
  Addresses named = pending_.functions;
  add_functions_by_name(sysfs, named);
  for (const auto& [address, device] : devices_)
    if (needs_refresh(device, holders)) named.insert(address);
  return named;
}

// A PF tells something of each of its VFs, and a VF that comes or goes may change the numbers of
// all: so the whole family, but for a VF that was there before and still is. That one needs its PF.
Status Inventory::add_with_relatives(const sysfs::Sysfs& sysfs, const ib::PciAddress& function,
                                     Addresses& stale) const {
  const Device* const known = find(devices_, function);
  std::optional<ib::PciAddress> pf = TRY(sysfs::pf_of(sysfs, function));
  const bool stays = pf && known != nullptr && known->pf == pf;
  if (!pf && known != nullptr) pf = known->pf;
  stale.insert(function);
  const ib::PciAddress head = pf.value_or(function);
  stale.insert(head);
  if (stays) return ok();
  const std::vector<ib::PciAddress> vfs = TRY(sysfs::vfs_of(sysfs, head));
  stale.insert(vfs.begin(), vfs.end());
  for (const auto& [address, device] : devices_)
    if (device.pf == head) stale.insert(address);
  return ok();
}

Result<Inventory::Addresses> Inventory::stale(const sysfs::Sysfs& sysfs, const Holders& holders) {
  Addresses stale;
  if (pending_.everything) {
    const std::vector<ib::PciAddress> all = TRY(sysfs::functions(sysfs));
    stale.insert(all.begin(), all.end());
    for (const auto& [address, device] : devices_) stale.insert(address);
    return stale;
  }
  for (const ib::PciAddress& function : changed_functions(sysfs, holders))
    TRY(add_with_relatives(sysfs, function, stale));
  add_slice(stale);
  return stale;
}

Status Inventory::refresh(const InventoryDeps& deps, const Holders& holders) {
  const Addresses stale = TRY(this->stale(deps.sysfs, holders));
  std::vector<Device> fresh =
      TRY(find_functions(deps.sysfs, std::vector(stale.begin(), stale.end())));
  std::erase_if(fresh, [&](Device& device) {
    const Device* const known = pending_.ports ? nullptr : find(devices_, device.address);
    return !read_device(deps, find(holders, device.address), known, device);
  });
  for (const ib::PciAddress& address : stale) devices_.erase(address);
  if (pending_.ports)
    for (auto& [address, device] : devices_) reread_ports(deps.sysfs, deps.tables, device);
  for (Device& device : fresh) devices_.insert_or_assign(device.address, std::move(device));
  return ok();
}

std::vector<Device> Inventory::complete_devices(const node::HostNetwork& network) const {
  std::vector<Device> devices;
  devices.reserve(devices_.size());
  for (const auto& [address, known] : devices_) {
    Device& device = devices.emplace_back(known);
    const Holder* const holder = find(holders_, address);
    if (holder == nullptr) continue;
    device.attachment = holder->attachment;
    device.quarantine = holder->quarantine;
    device.host_use = holder->children;
  }
  finish(network, devices);
  return devices;
}

Result<std::vector<Device>> Inventory::read(const InventoryDeps& deps, const ChangeSet& changed) {
  pending_.add(changed);
  Holders holders = TRY(read_holders(deps.records));
  slice_ = pending_.ports ? next_slice() : std::vector<ib::PciAddress>();
  TRY(refresh(deps, holders));
  holders_ = std::move(holders);
  pending_ = {};
  if (!slice_.empty()) last_in_slice_ = slice_.back();
  return complete_devices(deps.network);
}

}  // namespace ibpod::device_plugin
