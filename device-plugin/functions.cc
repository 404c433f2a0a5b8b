#include "device-plugin/inventory.h"
#include "lib/sysfs/pci.h"
#include "lib/sysfs/topology.h"

#include <map>
#include <set>

namespace ibpod::device_plugin {
namespace {

// PCI Code and ID Assignment Specification, 1.3.
constexpr uint32_t kNetworkClass = 0x02;
constexpr uint32_t kInfinibandClass = 0x0207;

struct Candidate {
  sysfs::PciIds ids;
  std::optional<ib::PciAddress> pf;
  bool eligible = false;
};

Candidate read_candidate(const sysfs::Sysfs& sysfs, const ib::PciAddress& address) {
  Candidate candidate;
  const Result<sysfs::PciIds> ids = sysfs::pci_ids(sysfs, address);
  if (ids) candidate.ids = *ids;
  const auto pf = sysfs::pf_of(sysfs, address);
  if (pf) candidate.pf = *pf;
  candidate.eligible =
      candidate.ids.device_class >> 16 == kNetworkClass || sysfs::has_rdma(sysfs, address);
  return candidate;
}

// The number of each VF under its PF.
Status number_vfs(const sysfs::Sysfs& sysfs, std::map<ib::PciAddress, Device>& functions) {
  for (auto& [address, device] : functions) {
    if (device.pf) continue;
    const std::vector<ib::PciAddress> vfs = TRY(sysfs::vfs_of(sysfs, address));
    device.vfs = static_cast<uint32_t>(vfs.size());
    for (uint32_t number = 0; number < vfs.size(); ++number) {
      const auto vf = functions.find(vfs[number]);
      if (vf != functions.end()) vf->second.vf = number;
    }
  }
  return ok();
}

}  // namespace

Result<std::vector<Device>> find_functions(const sysfs::Sysfs& sysfs,
                                           const std::vector<ib::PciAddress>& among) {
  std::map<ib::PciAddress, Candidate> candidates;
  for (const ib::PciAddress& address : among)
    candidates.emplace(address, read_candidate(sysfs, address));
  std::map<ib::PciAddress, Device> functions;
  for (const auto& [address, candidate] : candidates) {
    const auto pf = candidate.pf ? candidates.find(*candidate.pf) : candidates.end();
    if (!candidate.eligible && (pf == candidates.end() || !pf->second.eligible)) continue;
    Device device;
    device.address = address;
    device.vendor = candidate.ids.vendor;
    device.device_id = candidate.ids.device;
    device.pf = candidate.pf;
    if (candidate.ids.device_class >> 8 == kInfinibandClass) device.link_type = "infiniband";
    functions.emplace(address, std::move(device));
  }
  TRY(number_vfs(sysfs, functions));
  std::vector<Device> devices;
  devices.reserve(functions.size());
  for (auto& [address, device] : functions) devices.push_back(std::move(device));
  return devices;
}

}  // namespace ibpod::device_plugin
