#include "device-plugin/inventory.h"

#include "device-plugin/functions.h"
#include "device-plugin/holders.h"
#include "device-plugin/rdma_reading.h"
#include "lib/sysfs/pci.h"
#include "lib/sysfs/topology.h"

#include <algorithm>
#include <map>

#include <net/if_arp.h>

namespace ibpod::device_plugin {
namespace {

using Links = std::map<std::string, const nl::Link*>;
using Holders = std::map<ib::PciAddress, Holder>;

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

void take(RdmaReading reading, Device& device) {
  device.rdma = std::move(reading.devices);
  if (!reading.link_type.empty()) device.link_type = std::move(reading.link_type);
}

// In the namespaces that the records name.
Status read_rdma_in_pods(const Sources& sources, const Holder& holder, const Device* known,
                         Device& device) {
  for (const node::Namespace& pod : holder.namespaces) {
    const sysfs::Sysfs sysfs = TRY(sources.pod_sysfs(pod));
    RdmaReading reading = TRY(read_rdma(sysfs, device, known));
    if (reading.devices.empty()) continue;
    take(std::move(reading), device);
    return ok();
  }
  return Error(Code::not_found, "they are in a namespace that no record names");
}

Status read_rdma_anywhere(const Sources& sources, const Holder* holder, const Device* known,
                          Device& device) {
  RdmaReading reading = TRY(read_rdma(sources.sysfs, device, known));
  const bool elsewhere = reading.devices.empty() && !device.char_devices.empty();
  take(std::move(reading), device);
  if (!elsewhere) return ok();
  return read_rdma_in_pods(sources, holder == nullptr ? Holder() : *holder, known, device);
}

// False: it is gone.
bool read_device(const Sources& sources, const Holder* holder, const Device* known,
                 Device& device) {
  Status read = read_function(sources.sysfs, device);
  if (read) read = read_rdma_anywhere(sources, holder, known, device);
  if (!sysfs::exists(sources.sysfs, device.address)) return false;
  if (!read) device.unseen = read.error().text();
  if (holder == nullptr) return true;
  device.attachment = holder->attachment;
  device.quarantine = holder->quarantine;
  device.host_use = holder->children;
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

// What follows from a PF's own facts and the host's links.
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

void finish(const HostNetwork& network, std::vector<Device>& devices) {
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

const Device* find_known(const std::vector<Device>* known, const ib::PciAddress& address) {
  if (known == nullptr) return nullptr;
  const auto at = std::lower_bound(
      known->begin(), known->end(), address,
      [](const Device& device, const ib::PciAddress& wanted) { return device.address < wanted; });
  return at == known->end() || at->address != address ? nullptr : &*at;
}

}  // namespace

Result<std::vector<Device>> read_inventory(const Sources& sources) {
  const Holders holders = TRY(read_holders(sources.records));
  std::vector<Device> devices = TRY(find_functions(sources.sysfs));
  std::erase_if(devices, [&](Device& device) {
    const auto holder = holders.find(device.address);
    return !read_device(sources, holder == holders.end() ? nullptr : &holder->second,
                        find_known(sources.known, device.address), device);
  });
  finish(sources.network, devices);
  return devices;
}

}  // namespace ibpod::device_plugin
